"""The NetworkX backend "spillway": `nx.pagerank(G, backend="spillway")`, or NETWORKX_BACKEND_PRIORITY=spillway.

NetworkX finds it by the entry points of the package. Graphs are converted once and kept in NetworkX' own cache;
graphs of this package may be handed to NetworkX' functions as they are.
"""
