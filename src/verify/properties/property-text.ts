import { isRecord } from '../../core/internal.ts';
import type { Argument } from './property-arguments.ts';
import { formatForm, propertyForms, readArguments } from './property-forms.ts';
import type { PropertyForm } from './property-forms.ts';
import { createProperty, findForm, propertyFromJson } from './property-json.ts';
import type { Property } from './property.ts';
import { PropertySyntaxError } from './property-syntax-error.ts';

/**
 * Parses a property, such as `placeBound(lock.free, lock.held, 1)` or `atMost(model.call, 3, per: user.in)`. A text that
 * starts with `{` is parsed as JSON.
 *
 * An argument is a name, a number, `true`, `false`, a list `[a, b]` or an object `{a: 1}`. A name may be quoted. Options
 * are written `name: value`. The items of the one list of a property need no brackets.
 * @throws PropertySyntaxError if the text is not well-formed; it names the character and the form of the property.
 * @throws InvalidPropertyError if an argument is out of its range.
 */
export function parseProperty(text: string): Property {
  if (text.trimStart().startsWith('{')) {
    const json = parseJson(text);
    failIfTwice(text);
    return propertyFromJson(json);
  }
  return new TextParser(text).property();
}

/** Formats a property as text. `parseProperty` returns the same property. */
export function formatProperty(property: Property): string {
  const { form: name, args } = readArguments(property);
  const form = propertyForms.find((one) => one.name === name);
  const shown = (form?.parameters ?? []).flatMap(({ name: parameter, isNamed, isList }) => {
    const value = args[parameter];
    const isEmpty = Array.isArray(value) && value.length === 0;
    if (value === undefined || isEmpty) return [];
    if (isNamed) return [`${parameter}: ${formatValue(value)}`];
    return isList && Array.isArray(value) ? value.map(formatValue) : [formatValue(value)];
  });
  return `${name}(${shown.join(', ')})`;
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatValue).join(', ')}]`;
  if (isRecord(value)) {
    const fields = Object.entries(value).filter(([, one]) => one !== undefined);
    return `{${fields.map(([name, one]) => `${formatValue(name)}: ${formatValue(one)}`).join(', ')}}`;
  }
  if (typeof value !== 'string') return String(value);
  const isPlain = WHOLE_WORD.test(value) && typeof toValue(value) === 'string';
  return isPlain ? value : JSON.stringify(value);
}

/** A name, a number, `true` or `false`. A name may end with a name in parentheses, as `running(tool.run)` does. */
const WORD = /[^\s,:()[\]{}"]+(?:\([^\s,:()[\]{}"]+\))?/y;
const WHOLE_WORD = /^[^\s,:()[\]{}"]+(?:\([^\s,:()[\]{}"]+\))?$/;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const NAME = /\w+/y;

function toValue(word: string): string | number | boolean {
  if (/^-?\d+(?:\.\d+)?$/.test(word)) return Number(word);
  return word === 'true' || (word === 'false' ? false : word);
}

class TextParser {
  readonly #text: string;
  #at = 0;
  #hint = 'Write a property such as placeBound(lock.free, 1).';

  constructor(text: string) {
    this.#text = text;
  }

  property(): Property {
    this.#skipSpace();
    const at = this.#position;
    const name = this.#match(NAME) ?? this.#fail('the name of a property');
    const form = findForm(name, at);
    this.#hint = `Write ${formatForm(form)}.`;
    const bare: Argument[] = [];
    const args = new Map<string, Argument>();
    if (this.#take('(')) {
      while (!this.#take(')')) {
        const argument = this.#argument();
        const [key, value] = argument;
        const before = key === undefined ? undefined : args.get(key);
        if (before !== undefined) this.#failTwice(value.at, key, before.value, value.value);
        if (key === undefined) bare.push(value);
        else args.set(key, value);
        if (!this.#take(',') && !this.#isNext(')')) this.#fail('"," or ")"');
      }
    }
    const end = this.#position;
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail('the end');
    return createProperty(form, this.#bind(form, bare, args), end);
  }

  #argument(): readonly [key: string | undefined, argument: Argument] {
    this.#skipSpace();
    const at = this.#position;
    const value = this.#value();
    if (typeof value !== 'string' || !this.#take(':')) return [undefined, { value, at }];
    return [value, { value: this.#value(), at }];
  }

  #value(): unknown {
    this.#skipSpace();
    if (this.#take('[')) {
      const items: unknown[] = [];
      while (!this.#take(']')) {
        items.push(this.#value());
        if (!this.#take(',') && !this.#isNext(']')) this.#fail('"," or "]"');
      }
      return items;
    }
    if (this.#take('{')) {
      const fields = new Map<string, unknown>();
      while (!this.#take('}')) {
        this.#skipSpace();
        const at = this.#position;
        const name = this.#value();
        if (typeof name !== 'string' || !this.#take(':')) this.#fail('a name and ":"');
        else {
          const value = this.#value();
          if (fields.has(name)) this.#failTwice(at, name, fields.get(name), value);
          fields.set(name, value);
        }
        if (!this.#take(',') && !this.#isNext('}')) this.#fail('"," or "}"');
      }
      return Object.fromEntries(fields);
    }
    const quoted = this.#match(STRING);
    if (quoted !== undefined) return parseJson(quoted);
    const word = this.#match(WORD);
    return word === undefined ? this.#fail('a name, a number or a list') : toValue(word);
  }

  /** Assigns the arguments without a name to parameters, in order. A list takes all that the others leave. */
  #bind(
    form: PropertyForm,
    bare: readonly Argument[],
    args: ReadonlyMap<string, Argument>,
  ): ReadonlyMap<string, Argument> {
    const bound = new Map(args);
    const open = form.parameters.filter(({ isNamed, name }) => !isNamed && !args.has(name));
    const list = open.findIndex(({ isList }) => isList);
    const extra = bare[open.length];
    if (list < 0 && extra !== undefined)
      throw new PropertySyntaxError(extra.at, 'there are too many arguments', this.#hint);
    const after = list < 0 ? 0 : open.length - 1 - list;
    for (const [index, { name, isList }] of open.entries()) {
      const from = list >= 0 && index > list ? bare.length - (open.length - index) : index;
      if (!isList) {
        const argument = from > list || index < list ? bare[from] : undefined;
        if (argument !== undefined) bound.set(name, argument);
        continue;
      }
      const items = bare.slice(index, bare.length - after);
      const [first] = items;
      if (first === undefined) continue;
      const isWhole = items.length === 1 && typeof first.value === 'object';
      bound.set(name, isWhole ? first : { value: items.map(({ value }) => value), at: first.at });
    }
    return bound;
  }

  get #position(): string {
    return `character ${this.#at + 1}`;
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #isNext(character: string): boolean {
    this.#skipSpace();
    return this.#text[this.#at] === character;
  }

  #take(character: string): boolean {
    if (!this.#isNext(character)) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #failTwice(at: string, name: string | undefined, first: unknown, second: unknown): never {
    const values = `${formatValue(first)} and ${formatValue(second)}`;
    throw new PropertySyntaxError(at, `${name} is given twice, as ${values}`, this.#hint);
  }

  #fail(expected: string): never {
    this.#skipSpace();
    const found = this.#text[this.#at];
    const problem = `expected ${expected}, but found ${found === undefined ? 'the end' : `"${found}"`}`;
    throw new PropertySyntaxError(this.#position, problem, this.#hint);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [, position] = /position (\d+)/.exec(String(error)) ?? [];
    throw new PropertySyntaxError(
      `character ${Number(position ?? 0) + 1}`,
      'the JSON is not well-formed',
      'Write an object such as { "property": "placeBound", "places": ["lock.free"], "max": 1 }.',
    );
  }
}

/** `JSON.parse` keeps the last of two fields with one name. @throws PropertySyntaxError if an object has such fields. */
function failIfTwice(text: string): void {
  const objects: Set<string>[] = [];
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}]/g)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (token.endsWith(':')) {
      const name = String(parseJson(token.slice(0, -1)));
      const names = objects.at(-1);
      if (names?.has(name) === true)
        throw new PropertySyntaxError(
          `character ${index + 1}`,
          `the field ${JSON.stringify(name)} is given twice, now as ${text
            .slice(index + token.length)
            .trim()
            .slice(0, 40)}`,
          'Remove one of them.',
        );
      names?.add(name);
    }
  }
}
