"""The fix loop: edits of rubrics, what they change on labels, and what becomes of them."""
