"""What every completion of chaos has as its response, so that it can be looked for at the end."""

TEXT = "Vk3 a response that chaos submitted 8d1f4e Vk3"
