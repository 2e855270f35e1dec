"""What the chapters of the book show: attention views, figures, widgets, questions, exercises."""
