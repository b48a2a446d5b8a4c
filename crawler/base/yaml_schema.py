"""The JSON Schema of a YAML file that people write, made from its model: for editors, and for the pages in `docs/`.

Each key has there what its field in the model says: a description, an example, a default, a range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema

from crawler.base.yamlfile import ShortPart

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core.core_schema import ModelSchema, WithDefaultSchema

    from crawler.base.yamlfile import Part


def schema_of(model: type[Part], name: str) -> dict[str, Any]:
    """Returns the JSON Schema of a file.

    Args:
        model: Of the whole file.
        name: Of the kind of file, in the schema's title.
    """
    head = {"$schema": _PartSchema.schema_dialect, "title": f"Headroom {name}"}
    return head | _PartSchema().generate(model.__pydantic_core_schema__)


def parts_of(model: type[Part]) -> dict[str, type[Part]]:
    """Returns the models of a file and of all its parts, by the names that they have in the schema."""
    generator = _PartSchema()
    generator.generate(model.__pydantic_core_schema__)
    return generator.parts


class _PartSchema(GenerateJsonSchema):
    """As pydantic has it, but with defaults as they are written in a file, short forms, and no titles."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: dict[str, type[Part]] = {}

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        """Returns the schema of a key without its default, which `model_schema` adds."""
        return self.generate_inner(schema["schema"])

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        """Returns the schema of a part of the file."""
        part, described = schema["cls"], super().model_schema(schema)
        self.parts[part.__name__] = part
        values = {name: info.default for name, info in part.model_fields.items() if not info.is_required()}
        defaults = part.model_construct(**values).model_dump(mode="json", warnings=False)
        described.pop("title")
        for key, about in described["properties"].items():
            about.pop("title", None)
            default = defaults.get(key)
            if default not in (None, "", []) and not isinstance(default, dict):  # a part's keys have their own
                about["default"] = default
        if not issubclass(part, ShortPart):
            return described
        text = {"type": "string", "description": f"Short for {{{part.short_for}: ...}}"}
        return {"description": described.pop("description"), "anyOf": [text, described]}
