import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import networkx
import numpy as np
import pytest
import timm
import torch
from torch import nn

import nar_plugin
from nar_plugin.drawing.figure import MOST_BOXES
from nar_plugin.errors import NarError
from nar_plugin.tracing.graph import ArchitectureGraph, Op

X = "\N{MULTIPLICATION SIGN}"
SVG = "{http://www.w3.org/2000/svg}"


def words(svg):
    return [text.text for text in ET.fromstring(svg).iter(f"{SVG}text")]


def boxes(svg):
    return ET.fromstring(svg).findall(f".//{SVG}rect[@class='box']")


def test_a_stack_is_one_box_with_its_count(stack):
    picture = stack(12).draw("twelve")
    spine = picture.figure.spine
    assert [(box.title, box.count) for box in spine.boxes][1:] == [("Layer", 12)]
    assert f"Layer {X}12" in words(picture.svg())
    assert "twelve" in words(picture.svg())


def test_the_residual_is_drawn_inside_of_the_block(stack):
    (kind,) = stack(12).draw().figure.kinds
    marks = {box.mark: number for number, box in enumerate(kind.level.boxes) if box.mark}
    pairs = {(edge.source, edge.target) for edge in kind.level.edges}
    assert (marks["in"], marks["+"]) in pairs
    assert networkx.is_directed_acyclic_graph(networkx.DiGraph(pairs))


def test_shapes_stand_where_they_change(stack):
    edges = stack(12).draw().figure.spine.edges
    assert [edge.shape for edge in edges] == ["64 · 1/2"]


def test_a_trace_counts_the_work_and_a_row_of_the_index_estimates_it(stack):
    layers = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 1), nn.Softmax(1))
    svg = nar_plugin.trace(layers, example_inputs=torch.zeros(1, 3, 16, 16)).draw().svg()
    assert "77% of the FLOPs<" in svg  # 27 x 8 products at each place, and 8 x 8 after them
    assert "23% of the FLOPs<" in svg
    assert "shade: FLOPs;" in svg
    svg = stack(2).draw().svg()
    assert "of the FLOPs, estimated<" in svg
    assert "shade: FLOPs, estimated;" in svg


def test_layers_that_take_turns_are_a_frame_with_its_turns(stack):
    graph = stack(12)
    ops = list(graph.ops)
    for place, path in enumerate(graph.paths):
        if path.startswith("layers.") and int(path.split(".")[1]) % 3 == 2 and "relu" in path:
            ops[place] = Op("gelu")
    turns = ArchitectureGraph(tuple(ops), graph.edges, graph.paths, graph.classes)
    frame = turns.draw().figure.spine.boxes[1]
    assert (frame.count, frame.note) == (12, f"{X}4 in turn")
    assert [box.count for box in frame.inside.boxes] == [2, 1]


def test_layers_around_which_something_is_added_are_folded_by_their_motifs(stack):
    graph = stack(12)
    outside = tuple("" if path.count(".") == 1 else path for path in graph.paths)  # the sums
    moved = ArchitectureGraph(graph.ops, graph.edges, outside, graph.classes)
    assert max(box.count for box in moved.draw().figure.spine.boxes) >= 11


def test_towers_that_do_not_meet_are_not_connected(stack):
    one, other = stack(4, "a"), stack(4, "b", "Other")
    both = ArchitectureGraph(
        one.ops + other.ops,
        np.concatenate([one.edges, other.edges + len(one)]),
        one.paths + tuple(f"second.{path}" for path in other.paths),
        {**one.classes, **{f"second.{path}": name for path, name in other.classes.items()}},
    )
    spine = both.draw().figure.spine
    graph = networkx.Graph([(edge.source, edge.target) for edge in spine.edges])
    assert networkx.number_connected_components(graph) == 2


def test_an_activation_that_layers_share_stays_with_each(stack):
    graph = stack(6)
    paths = tuple("layers.0.relu0" if "relu" in path else path for path in graph.paths)
    shared = ArchitectureGraph(graph.ops, graph.edges, paths, graph.classes)
    assert [box.count for box in shared.draw().figure.spine.boxes] == [1, 6]


def random_graph(count, seed, paths):
    random = np.random.default_rng(seed)
    kinds = [Op(kind) for kind in ("relu", "add", "mul", "conv", "softmax", "linear")]
    ops = tuple(kinds[number] for number in random.integers(len(kinds), size=count))
    edges = {(target - 1, target) for target in range(1, count)}
    edges |= {(int(random.integers(max(0, t - 40), t)), t) for t in range(50, count, 3)}
    array = np.array(sorted(edges, key=lambda edge: edge[::-1]), dtype=np.int32)
    return ArchitectureGraph(ops, array, paths or ("",) * count, {})


@pytest.mark.parametrize("named", [False, True])
def test_any_graph_is_drawn_in_few_boxes_without_a_cycle(named):
    random = np.random.default_rng(3)
    names = tuple(f"m{random.integers(9)}.b{random.integers(9)}" for _ in range(2_000))
    picture = random_graph(2_000, 4, names if named else None).draw()
    svg = picture.svg()
    assert picture.figure.boxes <= MOST_BOXES
    assert len(boxes(svg)) <= MOST_BOXES
    assert sum(box.ops for box in picture.figure.spine.boxes) == 2_000  # none is left out
    assert all(edge.source < edge.target for edge in picture.figure.spine.edges)


@pytest.mark.slow
def test_forty_thousand_operations_are_few_boxes(stack):
    for graph in (stack(4_000), random_graph(40_000, 5, None)):
        picture = graph.draw()
        assert len(boxes(picture.svg())) <= MOST_BOXES
        assert picture.figure.boxes <= MOST_BOXES


def test_boxes_do_not_overlap(stack):
    rects = [
        tuple(float(rect.get(name)) for name in ("x", "y", "width", "height"))
        for rect in boxes(random_graph(90, 6, None).draw().svg())
    ]
    assert len(rects) > 20
    for number, (x, y, width, height) in enumerate(rects):
        for left, top, wide, high in rects[number + 1 :]:
            apart = x + width <= left or left + wide <= x or y + height <= top or top + high <= y
            assert apart


EVIL = "<script>alert('x')</script>\"&\x1b[2J]]>"


def hostile():
    ops = (Op(EVIL), Op("add"), Op(EVIL, (("width", 3),)))
    edges = np.array([[0, 1], [1, 2]], dtype=np.int32)
    classes = {EVIL: EVIL, "a": EVIL}
    return ArchitectureGraph(ops, edges, (EVIL, f"a.{EVIL}", EVIL), classes, inputs=EVIL)


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.seen = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def test_hostile_names_stay_text():
    picture = hostile().draw(EVIL)
    ET.fromstring(picture.svg())
    for text in (picture.svg(), picture.html()):
        tags = Tags(text).seen
        assert "script" not in {tag for tag, _ in tags}
        assert not any(name.startswith("on") for _, attrs in tags for name in attrs)
        assert all(attrs["href"].startswith("#") for tag, attrs in tags if tag == "a")
        assert "\x1b" not in text
    assert "<script" not in picture.mermaid()
    assert '"' not in re.sub(r'\["[^"]*"\]|\(\("[^"]*"\)\)|\|"[^"]*"\|', "", picture.mermaid())
    assert re.search(r'(?<!\\)"&', picture.dot()) is None


def test_every_box_links_to_its_module(stack):
    svg = ET.fromstring(stack(12).draw().svg())
    links = [link.get("href") for link in svg.iter(f"{SVG}a")]
    assert "#layers.0" in links
    assert "#layers.0.conv1" in links
    titles = [title.text for title in svg.iter(f"{SVG}title") if title.text]
    assert any(f"Layer {X}12" in title and "layers.0" in title for title in titles)


def test_a_page_unfolds_and_runs_nothing(stack):
    page = stack(12).draw("twelve").html()
    tags = [tag for tag, _ in Tags(page).seen]
    assert tags.count("details") == tags.count("summary") >= 2
    assert "script" not in tags
    assert tags.count("svg") >= 2


def test_text_for_other_tools(stack):
    picture = stack(12).draw("twelve")
    assert picture.mermaid().startswith("flowchart TD\n")
    assert "Layer #215;12" in picture.mermaid()
    assert "n0 -->" in picture.mermaid()
    assert picture.dot().startswith("digraph design {")
    assert picture.dot().count("{") == picture.dot().count("}")


def test_a_picture_is_saved_in_the_form_that_the_ending_names(stack, tmp_path):
    picture = stack(3).draw()
    starts = {"svg": "<svg", "html": "<!doctype", "mmd": "flowchart", "dot": "digraph"}
    for ending, start in starts.items():
        assert picture.save(tmp_path / f"a.{ending}").read_text().startswith(start)
    with pytest.raises(NarError, match="is saved as"):
        picture.save(tmp_path / "a.png")
    with pytest.raises(NarError, match="cannot be written"):
        picture.save(tmp_path / "missing" / "a.svg")


def test_two_designs_side_by_side():
    with torch.device("meta"):
        models = [timm.create_model(name) for name in ("resnet18", "seresnet18")]
    found = nar_plugin.compare(*models)
    told = words(found.draw().svg())
    assert told.count(f"BasicBlock {X}2") == 8  # four stages of each
    assert "= 1.00" in told  # the heads
    assert told.count("as above") == 3
    shares = [int(part) for part in re.findall(r"(\d+)% of the FLOPs<", found.draw().svg())]
    assert sum(shares) == pytest.approx(2 * 100, abs=6)  # of both, rounded
    with pytest.raises(NarError, match="draw one"):
        found.draw().mermaid()


def test_a_design_beside_itself_differs_nowhere(stack):
    from nar_plugin.drawing import Picture
    from nar_plugin.mining import mine

    macro = mine(stack(5))
    told = words(Picture(macro, "a", macro, "b").svg())
    assert not [text for text in told if text.startswith("≠") and "differs" not in text]
    assert "The same architecture." in told
