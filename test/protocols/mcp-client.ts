/** The client that the conformance suite judges: our MCP toolset, doing what each of its scenarios asks a client to do. */
import { isJsonObject, type Json, type JsonObject } from '../../src/core/index.ts';
import {
  InMemoryCredentialStore,
  openToolContext,
  Pending,
  type Tool,
} from '../../src/tools/index.ts';
import { openMcpToolset, type McpAuth } from '../../src/tools/mcp/index.ts';

const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const version = process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as JsonObject;
const url = process.argv.at(-1) ?? '';

/** A person who agrees to everything, and whose browser goes where it is sent. */
function signIn(): McpAuth {
  const { client_id: clientId, client_secret: clientSecret } = context;
  return {
    credentials: new InMemoryCredentialStore(),
    redirectUrl: 'http://127.0.0.1:3000/callback',
    authorize: async (address) => {
      const { headers, status } = await fetch(address, { redirect: 'manual' });
      const location = headers.get('location');
      if (location === null)
        throw new Error(`the authorization server did not redirect: ${status}`);
      return location;
    },
    ...(typeof clientId === 'string' && { clientId }),
    ...(typeof clientSecret === 'string' && { clientSecret }),
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
  };
}

/** Arguments that a schema accepts. */
function sample(schema: Json | undefined): Json {
  if (!isJsonObject(schema)) return 'x';
  const { type, properties, default: usual, enum: values } = schema;
  if (usual !== undefined) return usual;
  if (Array.isArray(values)) return (values as readonly Json[])[0] ?? null;
  if (type === 'object' || isJsonObject(properties)) {
    const members = isJsonObject(properties) ? Object.entries(properties) : [];
    return Object.fromEntries(members.map(([name, member]) => [name, sample(member)]));
  }
  if (type === 'number' || type === 'integer') return 5;
  if (type === 'boolean') return true;
  return type === 'array' ? [] : 'x';
}

/** A client of ours never sends null for what a schema does not let be null: it leaves the member out. */
function withoutNulls(args: Json): Json {
  if (!isJsonObject(args)) return args;
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

async function call(tool: Tool, args: Json): Promise<void> {
  let answer: { response: Json; isError: boolean; resume: Json } | undefined;
  for (let round = 0; round < 5; round++) {
    const parsed = tool.parse(args);
    if (!parsed.ok) throw new Error(parsed.message);
    const { context: toolContext } = openToolContext({
      signal: new AbortController().signal,
      progress: () => undefined,
      firingId: `f${round}`,
      attempt: 1,
      callId: 'c',
      invocationId: 'i',
      agentName: 'conformance',
      sessionKey: { appName: 'a', userId: 'u', sessionId: 's' },
      snapshot: { get: () => undefined },
      ...(answer !== undefined && { answer }),
    });
    const result = await tool.execute(parsed.value, toolContext);
    if (!(result instanceof Pending)) return;
    const { request, resume = null } = result;
    const questions =
      isJsonObject(request) && Array.isArray(request['questions']) ? request['questions'] : [];
    const answers = questions
      .filter(isJsonObject)
      .map(({ id, schema }) => [String(id), sample(schema)] as const);
    const [first] = answers;
    const response =
      answers.length === 1 && first !== undefined ? first[1] : Object.fromEntries(answers);
    answer = { response, isError: false, resume };
  }
}

await using set = await openMcpToolset({
  name: 'conformance',
  url,
  protocol: version === '2026-07-28' ? 'auto' : 'legacy',
  autoApprove: true,
  onWarning: (message) => console.error(message),
  elicit: async () => ({ action: 'accept', content: {} }),
  ...(scenario.startsWith('auth/') && { auth: signIn() }),
});

/** What a scenario wants beside a call of each tool: that a schema came through whole. */
const focal = set.tools().find(({ name }) => name === 'json_schema_2020_12_tool');
const wanted =
  focal !== undefined
    ? [{ name: 'json_schema_echo', arguments: { schema: focal.declaration.parameters } }]
    : Array.isArray(context['toolCalls'])
      ? context['toolCalls'].filter(isJsonObject)
      : [];
const calls =
  wanted.length > 0
    ? wanted.map(({ name, arguments: args }) => ({ name, args: withoutNulls(args ?? {}) }))
    : set.tools().map((tool) => ({ name: tool.name, args: sample(tool.declaration.parameters) }));
for (const { name, args } of calls) {
  const tool = set.tools().find((one) => one.name === name);
  if (tool === undefined) throw new Error(`There is no tool "${String(name)}".`);
  try {
    await call(tool, args);
  } catch (error) {
    console.error(`${tool.name}: ${error instanceof Error ? error.message : String(error)}`);
    if (scenario.startsWith('auth/')) throw error;
  }
}
