"""What the index that ships with the package promises to hold."""

import nar_plugin

# The twelve of Neural Architecture Retrieval, section 4, as the Hugging Face Hub spells them;
# sentence classification and text classification are one there.
PAPERS_TASKS = {
    "automatic-speech-recognition",
    "fill-mask",
    "image-classification",
    "image-segmentation",
    "object-detection",
    "question-answering",
    "sentence-similarity",
    "summarization",
    "text-classification",
    "token-classification",
    "translation",
}


def test_names_graphs_families_libraries_and_tasks():
    info = nar_plugin.load_index().info()
    assert info["names"] >= 16_000
    assert info["graphs"] - info["composed"] >= 9_000
    assert len(info["families"]) >= 300
    assert len(info["libraries"]) >= 35
    assert set(info["tasks"]) >= PAPERS_TASKS
