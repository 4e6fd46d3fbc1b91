"""The exercises of the Pulsar notebooks; they belong to the notebooks and not to the protocol."""
