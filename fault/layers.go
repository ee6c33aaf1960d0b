package fault

// The codes of layers.
const (
	LayerNotFound Code = "layer_not_found"
	LayerExists   Code = "layer_exists"
	LayersFull    Code = "layers_full"
	LayerInvalid  Code = "layer_invalid"
)

func layerEntries() []Entry {
	return []Entry{
		{LayerInvalid, Invalid,
			"A setting of the layer, or the `holdfast.yaml` of its repository, makes no sense; the message and `details` say " +
				"where. Nothing was stored."},
		{LayerNotFound, NotFound, "There is no layer of this name in your organization."},
		{LayerExists, Conflict, "There is a layer of this name already, with other settings."},
		{LayersFull, Conflict, "The organization has as many layers as it may have. Remove one first."},
	}
}
