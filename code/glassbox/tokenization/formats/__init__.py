"""Save and load tokenizers in the layouts of the reference libraries (chapter 2).

``layouts`` saves and loads, and knows the files of each class. ``files`` reads and writes
vocabularies and merges, ``tokenizer_json`` whole tokenizers, ``spaces`` the parts of these that
mark spaces, and ``sentencepiece`` that library's model files.
"""
