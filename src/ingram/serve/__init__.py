"""Answers over HTTP, and a page to ask on: parse, call, answer."""
