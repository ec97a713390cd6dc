"""Tasks for programs that know OpenAI's chat completions."""
