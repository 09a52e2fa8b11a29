"""What NetworkX is told when it is imported: which functions there are, and what they leave to NetworkX.

This is read while NetworkX itself is being imported, so nothing here may import it.
"""

from __future__ import annotations

from typing import Any

_WEIGHTS = (
    "Weights are whole numbers or 32-bit floats (0.25, not 0.1), none negative; others, and a function as weight, are "
    "left to NetworkX."
)
_ORDER = "`sort_neighbors` is left to NetworkX."
_UNDIRECTED = "Directed graphs and multigraphs are left to NetworkX."

# Each function, with what its documentation has to add.
FUNCTIONS: dict[str, str] = {
    "all_pairs_bellman_ford_path": _WEIGHTS,
    "all_pairs_bellman_ford_path_length": _WEIGHTS,
    "all_pairs_dijkstra": _WEIGHTS,
    "all_pairs_dijkstra_path": _WEIGHTS,
    "all_pairs_dijkstra_path_length": _WEIGHTS,
    "all_pairs_shortest_path": "",
    "all_pairs_shortest_path_length": "",
    "ancestors": "",
    "average_clustering": _UNDIRECTED + " So are weights.",
    "average_shortest_path_length": _WEIGHTS,
    "bellman_ford_path": _WEIGHTS,
    "bellman_ford_path_length": _WEIGHTS,
    "bellman_ford_predecessor_and_distance": _WEIGHTS,
    "betweenness_centrality": "Weights are left to NetworkX; so are endpoints in directed graphs.",
    "betweenness_centrality_subset": "Weights, and targets that are not all nodes, are left to NetworkX.",
    "bfs_edges": _ORDER,
    "bfs_layers": "",
    "bfs_predecessors": _ORDER,
    "bfs_successors": _ORDER,
    "bfs_tree": _ORDER,
    "bidirectional_dijkstra": _WEIGHTS,
    "bidirectional_shortest_path": "",
    "clustering": _UNDIRECTED + " So are weights.",
    "connected_components": "",
    "core_number": "Directed graphs are left to NetworkX.",
    "degree_centrality": "",
    "descendants": "",
    "descendants_at_distance": "",
    "dijkstra_path": _WEIGHTS,
    "dijkstra_path_length": _WEIGHTS,
    "dijkstra_predecessor_and_distance": _WEIGHTS,
    "ego_graph": "`undirected` with a distance is left to NetworkX. " + _WEIGHTS,
    "generic_bfs_edges": "A function as `neighbors` is left to NetworkX.",
    "has_path": "",
    "in_degree_centrality": "",
    "is_arborescence": "",
    "is_branching": "",
    "is_connected": "",
    "is_forest": "",
    "is_isolate": "",
    "is_strongly_connected": "",
    "is_tree": "",
    "is_weakly_connected": "",
    "isolates": "",
    "k_core": "Directed graphs are left to NetworkX.",
    "k_corona": "Directed graphs are left to NetworkX.",
    "k_crust": "Directed graphs are left to NetworkX.",
    "k_shell": "Directed graphs are left to NetworkX.",
    "kosaraju_strongly_connected_components": "A source is left to NetworkX.",
    "multi_source_dijkstra": _WEIGHTS,
    "multi_source_dijkstra_path": _WEIGHTS,
    "multi_source_dijkstra_path_length": _WEIGHTS,
    "node_connected_component": "",
    "number_connected_components": "",
    "number_of_isolates": "",
    "number_of_selfloops": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "out_degree_centrality": "",
    "overall_reciprocity": "Multigraphs are left to NetworkX.",
    "pagerank": (
        "Ranks are 32-bit floats: a tolerance below 1e-6 for all nodes together is left to NetworkX. So are weights "
        "that are not all the same, `nstart`, and a personalization or dangling nodes other than all alike or one node."
    ),
    "predecessor": "",
    "reciprocity": "Multigraphs, and reciprocity of single nodes, are left to NetworkX.",
    "shortest_path": _WEIGHTS,
    "shortest_path_length": _WEIGHTS,
    "single_source_bellman_ford": _WEIGHTS,
    "single_source_bellman_ford_path": _WEIGHTS,
    "single_source_bellman_ford_path_length": _WEIGHTS,
    "single_source_dijkstra": _WEIGHTS,
    "single_source_dijkstra_path": _WEIGHTS,
    "single_source_dijkstra_path_length": _WEIGHTS,
    "single_source_shortest_path": "",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path": "",
    "single_target_shortest_path_length": "",
    "strongly_connected_components": "",
    "transitivity": _UNDIRECTED,
    "triangles": _UNDIRECTED,
    "weakly_connected_components": "",
}


def get_info() -> dict[str, Any]:
    return {
        "backend_name": "spillway",
        "project": "spillway",
        "package": "spillway",
        "short_summary": "Graphs of any size on one machine: all cores, and the GPU where there is one.",
        "functions": {name: {"additional_docs": text} if text else {} for name, text in FUNCTIONS.items()},
        "default_config": {"device": "auto", "device_memory": None, "threads": None},
    }
