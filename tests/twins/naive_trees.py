"""The chance of each record to be the donor of a leaf, from the definition, node by node."""


def naive_donor_chances(leaves, parents, leaf, shrinkage):
    """Mix the records of a node of m records with those of its parent, which count as `shrinkage` more."""
    below = [i for i, each in enumerate(leaves) if leaf in path_to_root(each, parents)]
    own = [1 / len(below) if i in below else 0 for i in range(len(leaves))]
    if leaf == 0:
        return own
    above = naive_donor_chances(leaves, parents, parents[leaf], shrinkage)
    m = len(below)
    return [(m * one + shrinkage * other) / (m + shrinkage) for one, other in zip(own, above, strict=True)]


def path_to_root(node, parents):
    """The node, the one above it, and so on to 0."""
    return [node] if node == 0 else [node, *path_to_root(parents[node], parents)]
