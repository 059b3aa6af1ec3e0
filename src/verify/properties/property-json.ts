import { isRecord, nearestName } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import { PropertyArguments } from './property-arguments.ts';
import type { Argument } from './property-arguments.ts';
import { formatForm, propertyForms, readArguments } from './property-forms.ts';
import type { PropertyForm } from './property-forms.ts';
import type { Property } from './property.ts';
import { PropertySyntaxError } from './property-syntax-error.ts';

/**
 * Returns a property as JSON: `property` is its name in the language, and the other fields are its parameters.
 * `propertyFromJson` returns the same property.
 */
export function propertyToJson(property: Property): Readonly<Record<string, Json>> {
  const { form, args } = readArguments(property);
  const kept = Object.entries(args).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return { property: form, ...Object.fromEntries(kept) };
}

/**
 * Creates a property from JSON, such as `{ "property": "placeBound", "places": ["lock.free"], "max": 1 }`.
 * @throws PropertySyntaxError if the property or an argument is unknown, or an argument is missing or has the wrong type.
 * @throws InvalidPropertyError if an argument is out of its range.
 */
export function propertyFromJson(json: unknown): Property {
  if (!isRecord(json) || typeof json['property'] !== 'string')
    throw new PropertySyntaxError(
      'property',
      'the name of the property is missing',
      'Write an object such as { "property": "placeBound", "places": ["lock.free"], "max": 1 }.',
    );
  const { property: name, ...fields } = json;
  const form = findForm(name, 'property');
  const args = new Map(
    Object.entries(fields).map(([field, value]) => [field, { value, at: field }]),
  );
  return createProperty(form, args, name);
}

/** Returns the form with this name. @throws PropertySyntaxError if there is none. */
export function findForm(name: string, at: string): PropertyForm {
  const form = propertyForms.find((one) => one.name === name);
  if (form !== undefined) return form;
  const names = propertyForms.map((one) => one.name);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? '' : `Did you mean ${nearest}? `;
  throw new PropertySyntaxError(
    at,
    `there is no property "${name}"`,
    `${hint}The properties are ${names.join(', ')}.`,
  );
}

/** Creates a property. `end` is where a missing argument belongs. @throws PropertySyntaxError for an unknown argument. */
export function createProperty(
  form: PropertyForm,
  args: ReadonlyMap<string, Argument>,
  end: string,
): Property {
  const shown = formatForm(form);
  for (const [name, { at }] of args) {
    if (form.parameters.some((parameter) => parameter.name === name)) continue;
    throw new PropertySyntaxError(at, `${form.name} has no argument "${name}"`, `Write ${shown}.`);
  }
  return form.create(new PropertyArguments(shown, args, end));
}
