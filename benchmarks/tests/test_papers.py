"""Each paper's page, figure and JSON, quickly, on little data."""

import json
from pathlib import Path

import numpy as np
import pytest
from papers.__main__ import main


def _run(name: str, out: Path) -> dict:
    main([name, "--quick", "--out", str(out)])
    page = (out / f"{name}.md").read_text()
    assert "not a result" in page
    assert f"({name}.png)" in page
    assert (out / f"{name}.png").stat().st_size > 10_000
    figures = json.loads((out / f"{name}.json").read_text())
    assert figures["commit"]
    assert figures["machine"]["cores"]
    return figures


def test_pkg(tmp_path: Path) -> None:
    streams = _run("pkg", tmp_path)["streams"]
    for of in streams.values():
        assert of["imbalance"]["PKG"][0] < of["imbalance"]["Off-Greedy"][0]
        assert (
            max(of["imbalance"].values(), key=lambda means: means[0]) == of["imbalance"]["Hashing"]
        )


def test_dkg(tmp_path: Path) -> None:
    for of in _run("dkg", tmp_path)["by_k"]:
        assert of["bound"] <= of["dkg, theorem"] < of["dkg"] < of["hash"]


def test_autoflow_and_its_page_of_the_json_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (of,) = _run("autoflow", tmp_path)["workloads"]
    assert of["runs"]["3"]["end_s"] < of["runs"]["none"]["end_s"] / 4
    before = (tmp_path / "autoflow.md").read_text()
    (tmp_path / "autoflow.md").unlink()
    monkeypatch.setattr("papers.autoflow.measure", None)
    main(["autoflow", "--redraw", "--out", str(tmp_path)])
    assert (tmp_path / "autoflow.md").read_text() == before


def test_committed_results_are_no_quick_runs() -> None:
    results = sorted((Path(__file__).parents[1] / "papers" / "results").glob("*.json"))
    for path in results:
        assert not json.loads(path.read_text())["quick"], path


def test_a_paper_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["knuth"])
    assert "knuth" in capsys.readouterr().err


def test_caneill(tmp_path: Path) -> None:
    figures = _run("caneill", tmp_path)
    of = figures["over_time"]["tail_dest"]
    assert len(of["begins"]) == len(of["online"]["locality"]) == 3
    assert of["online"]["locality"][0] == of["offline"]["locality"][0]
    assert min(of["online"]["locality"]) > max(of["hash"]["locality"]) + 0.1
    few, all_of = figures["by_edges"]["tail_dest"]
    assert few["locality"] < all_of["locality"]


def test_albic(tmp_path: Path) -> None:
    figures = _run("albic", tmp_path)
    assert max(figures["balance"]["Flux"]["migrations"]) <= 30
    cola, albic = (figures["collocation"][name] for name in ("COLA", "ALBIC"))
    assert cola["collocation"][0][0] > 0.9
    assert albic["collocation"][-1][0] > albic["collocation"][0][0]
    assert np.mean(albic["migrations"]) < np.mean(cola["migrations"]) / 5
