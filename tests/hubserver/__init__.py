"""A Hugging Face Hub on loopback, for tests whose client is the real huggingface_hub.

It speaks the HTTP endpoints that huggingface_hub 2.x calls for what nar-plugin does: create_repo,
preupload, large file storage, commit with parent, refs, tags, tree, `resolve` with ETag and Range,
listings. It has no Xet storage: a client without `X-Xet-Hash` downloads by plain HTTP, and uploads
want HF_HUB_DISABLE_XET=1, since huggingface_hub 2.4 has no other way past an installed hf_xet.
"""

from hubserver.faults import Fault
from hubserver.server import HubServer

__all__ = ["Fault", "HubServer"]
