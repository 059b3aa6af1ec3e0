import type { Program, RawRun, RecordedRequest } from './kit.ts';

/** A model request in the form that both packages are compared in. */
export interface Request {
  readonly agentName: string;
  readonly systemInstruction: unknown;
  readonly contents: readonly unknown[];
  readonly tools: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The outcome of a program in the form that both packages are compared in. */
export interface Run {
  /** By agent, because concurrent agents call their models in any order. */
  readonly requests: readonly Request[];
  readonly turns: readonly (readonly Readonly<Record<string, unknown>>[])[];
  readonly errors: readonly string[];
  readonly state: unknown;
}

/** Spellings that differ in everything, with the reason. They are equal in the comparison. */
export const SPELLINGS: readonly (readonly [subject: string, spelling: string])[] = [
  [
    'Ids of events, invocations and calls',
    'Compared by their order. Call ids in requests are left out, because ADK removes its own.',
  ],
  ['`timestamp`', 'Epoch seconds, as in ADK for Python. ADK for TypeScript has milliseconds.'],
  ['Role of tool results', '`tool`, where ADK has `user`. Providers get the same message.'],
  [
    'Schemas of parameters and answers',
    'JSON Schema, where ADK has the schema of Gemini: `object` for `OBJECT`, and `$schema` and `additionalProperties` in addition. A schema of the answer implies `responseMimeType`.',
  ],
  [
    'Labels of a request',
    'Left out. ADK sets `adk_agent_name`. Models do not see labels: they are for bills of Google Cloud, and other providers reject them.',
  ],
  ['Empty lists and objects', 'Left out where ADK has `longRunningToolIds: []`.'],
];

/** Converts an outcome to the form that is compared. */
export function normalizeRun(
  { concurrent }: Pick<Program, 'concurrent'>,
  { requests, turns, errors, state }: RawRun,
): Run {
  const names = new Map<string, string>();
  const rename = (kind: string, id: string): string => {
    const name = names.get(`${kind} ${id}`) ?? `${kind} ${names.size + 1}`;
    names.set(`${kind} ${id}`, name);
    return name;
  };
  const normalizedTurns = turns.map((events) =>
    (concurrent === true ? sortByAuthor(events) : events).map((event) =>
      normalizeEvent(event, rename),
    ),
  );
  return {
    requests: requests.map(normalizeRequest).toSorted((a, b) => compare(a.agentName, b.agentName)),
    turns: normalizedTurns,
    errors,
    state,
  };
}

function sortByAuthor(events: readonly object[]): readonly object[] {
  const author = (event: object): string => String(Reflect.get(event, 'author'));
  return events.toSorted((a, b) => compare(author(a), author(b)));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function normalizeRequest(request: RecordedRequest): Request {
  const tools = request.tools.map((one) => Object(one));
  return {
    agentName: request.agentName,
    systemInstruction: request.systemInstruction,
    contents: request.contents.map((content) => normalizeContent(content, () => undefined)),
    tools: Object.fromEntries(
      tools.map((one) => [String(Reflect.get(one, 'name')), normalizeTool(one)]),
    ),
    config: normalizeConfig(request.config),
  };
}

/** A schema of the answer implies JSON. */
function normalizeConfig(config: object): Readonly<Record<string, unknown>> {
  if (!isRecord(config)) return {};
  const { responseSchema, responseMimeType, labels: _, ...rest } = config;
  return withoutEmpty({
    ...rest,
    responseSchema: normalizeSchema(responseSchema),
    ...(responseSchema === undefined && { responseMimeType }),
  });
}

function normalizeTool(one: object): unknown {
  const { parameters, ...rest } = { parameters: {}, ...one };
  return {
    ...rest,
    parameters: normalizeSchema(parameters),
  };
}

/** Turns a schema of Gemini or a JSON Schema into the same form. */
function normalizeSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(normalizeSchema);
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema)
    .filter(([key]) => !['$schema', 'additionalProperties'].includes(key))
    .map(([key, value]) => [
      key,
      key === 'type' && typeof value === 'string' ? value.toLowerCase() : normalizeSchema(value),
    ]);
  return Object.fromEntries(entries);
}

type Rename = (kind: string, id: string) => string | undefined;

function normalizeContent(content: unknown, rename: Rename): unknown {
  if (!isRecord(content)) return content;
  const { role, parts } = content;
  return withoutEmpty({
    ...content,
    role: role === 'tool' ? 'user' : role,
    parts: Array.isArray(parts) ? parts.map((part) => normalizePart(part, rename)) : parts,
  });
}

function normalizePart(part: unknown, rename: Rename): unknown {
  if (!isRecord(part)) return part;
  const { functionCall, functionResponse } = part;
  if (isRecord(functionCall)) return { ...part, functionCall: normalizeCall(functionCall, rename) };
  if (isRecord(functionResponse))
    return { ...part, functionResponse: normalizeCall(functionResponse, rename) };
  return part;
}

function normalizeCall(
  { id, ...call }: Readonly<Record<string, unknown>>,
  rename: Rename,
): Readonly<Record<string, unknown>> {
  const { args, ...rest } = call;
  const original = isRecord(args) ? args['originalFunctionCall'] : undefined;
  const asked = isRecord(args) ? args['function_call_id'] : undefined;
  return withoutUndefined({
    ...rest,
    ...(args !== undefined && {
      args:
        isRecord(args) && isRecord(original)
          ? { ...args, originalFunctionCall: normalizeCall(original, rename) }
          : isRecord(args) && typeof asked === 'string'
            ? { ...args, function_call_id: rename('call', asked) }
            : args,
    }),
    id: typeof id === 'string' ? rename('call', id) : undefined,
  });
}

function normalizeEvent(
  event: object,
  rename: (kind: string, id: string) => string,
): Readonly<Record<string, unknown>> {
  const {
    id: _,
    timestamp: __,
    invocationId,
    content,
    actions,
    ...rest
  } = {
    id: undefined,
    timestamp: undefined,
    invocationId: '',
    content: undefined,
    actions: {},
    ...event,
  };
  const { longRunningToolIds } = { longRunningToolIds: [], ...rest };
  const normalizedContent = normalizeContent(content, rename);
  return withoutEmpty({
    ...rest,
    invocation: rename('invocation', invocationId),
    content: normalizedContent,
    longRunningToolIds: Array.isArray(longRunningToolIds)
      ? longRunningToolIds.map((id) => rename('call', String(id)))
      : longRunningToolIds,
    actions: isRecord(actions) ? normalizeActions(actions, rename) : actions,
  });
}

function normalizeActions(
  actions: Readonly<Record<string, unknown>>,
  rename: (kind: string, id: string) => string,
): Readonly<Record<string, unknown>> {
  const byCall = (requested: unknown): unknown =>
    isRecord(requested)
      ? Object.fromEntries(
          Object.entries(requested).map(([id, value]) => [rename('call', id), value]),
        )
      : requested;
  return withoutEmpty({
    ...actions,
    requestedToolConfirmations: byCall(actions['requestedToolConfirmations']),
    requestedAuthConfigs: byCall(actions['requestedAuthConfigs']),
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutUndefined(
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

function withoutEmpty(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => {
      if (Array.isArray(member)) return member.length > 0;
      return isRecord(member) ? Object.keys(member).length > 0 : member !== undefined;
    }),
  );
}
