"""The page as a Space of the Hugging Face Hub."""

from nar_plugin.web import serve

serve(host="0.0.0.0")  # a Space's own proxy stands before it
