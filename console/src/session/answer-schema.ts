/** A member of an answer that a form can ask for. */
export interface AnswerField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  /** The values to choose from. */
  readonly values: readonly string[];
  readonly isRequired: boolean;
  readonly start: FieldValue;
}

export type FieldValue = string | boolean | readonly string[];

/** A question that a call asks, with the fields of its answer. */
export interface Question {
  readonly message: string | undefined;
  readonly fields: readonly AnswerField[];
  /** True: an MCP server asks, and a person may decline. */
  readonly mayDecline: boolean;
}

/**
 * Reads the question of a call: `{ questions: [{ message, schema }] }` as an MCP server asks it, or `{ message, schema }`
 * as a tool may. Undefined: there is not exactly one question, or a form cannot ask for what its schema describes.
 */
export function readQuestion(request: unknown): Question | undefined {
  const asked: unknown = read(request, 'questions');
  const question: unknown = Array.isArray(asked) && asked.length === 1 ? asked[0] : request;
  const schema = read(question, 'schema');
  const properties = read(schema, 'properties');
  if (typeof properties !== 'object' || properties === null) return undefined;
  const required: unknown = read(schema, 'required');
  const fields: AnswerField[] = [];
  for (const [name, member] of Object.entries(properties)) {
    const isRequired = Array.isArray(required) && required.includes(name);
    const field = toField(name, member, isRequired);
    if (field === undefined) return undefined;
    fields.push(field);
  }
  const message = read(question, 'message');
  const mayDecline = asked !== undefined;
  return { message: typeof message === 'string' ? message : undefined, fields, mayDecline };
}

/** Returns the answer that was entered. Undefined: a required field is empty, or a number is not one. */
export function writeAnswer(
  fields: readonly AnswerField[],
  values: Readonly<Record<string, FieldValue>>,
): Readonly<Record<string, unknown>> | undefined {
  const answer: Record<string, unknown> = {};
  for (const { name, kind, isRequired, start } of fields) {
    const value = values[name] ?? start;
    if (kind === 'boolean' || kind === 'choices') answer[name] = value;
    else if (value === '') {
      if (isRequired) return undefined;
    } else if (kind === 'number' || kind === 'integer') {
      const number = Number(value);
      if (!(kind === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number)))
        return undefined;
      answer[name] = number;
    } else answer[name] = value;
  }
  return answer;
}

function toField(name: string, schema: unknown, isRequired: boolean): AnswerField | undefined {
  const type = read(schema, 'type');
  const title = readText(schema, 'title') ?? name;
  const description = readText(schema, 'description');
  const start = read(schema, 'default');
  const field = { name, title, description, isRequired, values: [] };
  const text = typeof start === 'string' || typeof start === 'number' ? String(start) : '';
  switch (type) {
    case 'string': {
      const values = readTexts(read(schema, 'enum'));
      if (values === undefined) return { ...field, kind: 'text', start: text };
      return { ...field, kind: 'choice', values, start: text };
    }
    case 'number':
    case 'integer':
      return { ...field, kind: type, start: text };
    case 'boolean':
      return { ...field, kind: 'boolean', start: start === true };
    case 'array': {
      const values = readTexts(read(read(schema, 'items'), 'enum'));
      if (values === undefined) return undefined;
      return { ...field, kind: 'choices', values, start: readTexts(start) ?? [] };
    }
    default:
      return undefined;
  }
}

function read(value: unknown, member: string): unknown {
  return Reflect.get(Object(value), member);
}

function readText(value: unknown, member: string): string | undefined {
  const text = read(value, member);
  return typeof text === 'string' ? text : undefined;
}

function readTexts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts: readonly unknown[] = value;
  return texts.every((text) => typeof text === 'string') ? texts : undefined;
}
