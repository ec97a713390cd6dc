"""Imports: files of requests, uploaded by link and taken in chunk by chunk."""
