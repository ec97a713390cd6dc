"""Black-box graders over HTTP, which may answer later."""
