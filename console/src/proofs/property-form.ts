import type { PropertyForm } from '../api/types.ts';

/** Something to enter for a form of a property. */
export interface FormField {
  readonly kind: 'places' | 'place' | 'transitions' | 'transition' | 'number';
  readonly label: string;
  /** How many are needed. */
  readonly least: number;
}

const FIELDS: Readonly<Record<string, FormField>> = {
  'PLACE, PLACE, …': { kind: 'places', label: 'Places', least: 2 },
  'PLACE, …': { kind: 'places', label: 'Places', least: 1 },
  PLACE: { kind: 'place', label: 'Place', least: 1 },
  'TRANSITION, …': { kind: 'transitions', label: 'Transitions', least: 1 },
  TRANSITION: { kind: 'transition', label: 'Transition', least: 1 },
  MAX: { kind: 'number', label: 'At most', least: 1 },
};

/**
 * Returns the fields of a form, such as `placeBound(PLACE, …, MAX, [each: true])`. Options in brackets are left out.
 * Undefined: the form needs more than names and a number, so a person writes it in a file.
 */
export function listFields({ text }: PropertyForm): readonly FormField[] | undefined {
  const open = text.indexOf('(');
  const inside = text.slice(open + 1, -1);
  // An option begins at its bracket, and options come last.
  let rest = inside.replace(/(?:^|,\s*)\[.*$/u, '');
  const fields: FormField[] = [];
  while (rest !== '') {
    const placeholder = Object.keys(FIELDS).find(
      (one) => rest === one || rest.startsWith(`${one}, `),
    );
    const field = placeholder === undefined ? undefined : FIELDS[placeholder];
    if (placeholder === undefined || field === undefined) return undefined;
    fields.push(field);
    rest = rest.slice(placeholder.length).replace(/^,\s*/u, '');
  }
  return fields;
}

/** Writes a property as text. Undefined: a field is still empty. */
export function writeProperty(
  { kind }: PropertyForm,
  fields: readonly FormField[],
  values: readonly (readonly string[])[],
): string | undefined {
  const isComplete = fields.every(
    ({ least }, index) => (values[index] ?? []).filter((value) => value !== '').length >= least,
  );
  return isComplete ? `${kind}(${values.flat().join(', ')})` : undefined;
}
