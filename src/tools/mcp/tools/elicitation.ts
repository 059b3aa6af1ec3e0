import type {
  InputRequests,
  InputRequiredResult,
  InputResponses,
} from '@modelcontextprotocol/client';
import * as v from 'valibot';
import { isJsonObject, type Json, type JsonObject } from '../../../core/index.ts';
import { createJsonSchemaValidator } from '../../schema/json-schema-parser.ts';
import type { ArgsIssue } from '../../schema/parsed-args.ts';
import { pending, type Pending, type ToolAnswer } from '../../tool/pending.ts';
import { prepareSchema } from '../../schema/prepared-schema.ts';
import { McpRequestError } from '../vocabulary/mcp-errors.ts';
import type { McpElicitation, McpElicitationResult } from '../vocabulary/mcp-options.ts';
import { plainJson } from '../vocabulary/plain-json.ts';

/** What goes with a call when it is asked again: the answers, and the server's own note to itself, unread. */
export interface McpInputResponses {
  readonly inputResponses?: InputResponses;
  readonly requestState?: string;
}

/** What a question depends on. */
export interface ElicitationSettings {
  readonly server: string;
  readonly answerTimeoutMs?: number | undefined;
  readonly roots?: readonly { readonly uri: string; readonly name?: string }[] | undefined;
}

const rootsSchema = v.object({
  roots: v.array(v.object({ uri: v.string(), name: v.optional(v.string()) })),
});

/** What the call keeps while it is parked: enough for another process to go on. */
const parkedStateSchema = v.object({
  questions: v.array(
    v.object({
      id: v.string(),
      message: v.string(),
      schema: v.optional(v.unknown()),
      url: v.optional(v.string()),
    }),
  ),
  /** What needed no person. */
  answered: v.record(v.string(), rootsSchema),
  requestState: v.optional(v.string()),
});

type ParkedState = v.InferOutput<typeof parkedStateSchema>;
type ParkedElicitation = ParkedState['questions'][number];

const contentSchema = v.record(
  v.string(),
  v.union([v.string(), v.number(), v.boolean(), v.array(v.string())]),
);
const answerSchema = v.object({
  action: v.picklist(['accept', 'decline', 'cancel']),
  content: v.optional(contentSchema),
});

/**
 * A server that needs input before it goes on: what only a person can say parks the call, what the settings say is
 * answered at once.
 * @throws McpRequestError when it asks for something we never offered.
 */
export function resolveInputRequired(
  { inputRequests = {}, requestState }: InputRequiredResult,
  settings: ElicitationSettings,
): Pending | McpInputResponses {
  const state: ParkedState = {
    ...classifyRequests(inputRequests, settings),
    ...(requestState !== undefined && { requestState }),
  };
  return state.questions.length > 0 ? parkCall(state, settings) : toInputResponses(state, {});
}

/**
 * What somebody outside said to the questions of a parked call. One question takes its answer as it is; several take
 * an object by their ids. An answer is the content that was asked for, or `{ action, content }`. One that does not fit
 * the question's schema parks the call again, and says why.
 */
export function resolveAnswer(
  { response, isError, resume }: ToolAnswer,
  settings: ElicitationSettings,
): Pending | McpInputResponses {
  const state = v.parse(parkedStateSchema, resume);
  const { questions } = state;
  const results: Record<string, McpElicitationResult> = {};
  const problems: string[] = [];
  for (const question of questions) {
    const own = isError ? undefined : selectAnswer(question, response, questions.length);
    const result = validateAnswer(question, own);
    if (typeof result === 'string') problems.push(`${question.id}: ${result}`);
    else results[question.id] = result;
  }
  return problems.length > 0
    ? parkCall(state, settings, problems.join(' '))
    : toInputResponses(state, results);
}

/** What a server asks a person, without the words of the wire. */
export function toElicitation(
  params:
    | { readonly message: string; readonly requestedSchema: object }
    | { readonly message: string; readonly url: string },
): McpElicitation {
  const { message } = params;
  return 'url' in params
    ? { message, url: params.url }
    : { message, schema: plainJson(params.requestedSchema, 'requestedSchema') };
}

function classifyRequests(
  requests: InputRequests,
  { server, roots }: ElicitationSettings,
): Pick<ParkedState, 'questions' | 'answered'> {
  const questions: ParkedElicitation[] = [];
  const answers: ParkedState['answered'] = {};
  for (const [id, request] of Object.entries(requests)) {
    if (request.method === 'elicitation/create') {
      const question = toElicitation(request.params);
      assertValidSchema(server, id, question);
      questions.push({ id, ...question });
    } else if (request.method === 'roots/list' && roots !== undefined) {
      answers[id] = { roots: roots.map((root) => ({ ...root })) };
    } else {
      throw new McpRequestError(server, `it asks for ${request.method}, which is not offered.`);
    }
  }
  return { questions, answered: answers };
}

/** A question whose schema no answer could be judged by is refused before anybody is asked. */
function assertValidSchema(server: string, id: string, { schema }: McpElicitation): void {
  if (!isJsonObject(schema)) return;
  try {
    prepareSchema(schema);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new McpRequestError(server, `its question "${id}" cannot be asked: ${reason}`, { cause });
  }
}

function parkCall(state: ParkedState, settings: ElicitationSettings, problem?: string): Pending {
  const { server, answerTimeoutMs } = settings;
  const questions = plainJson(state.questions, 'questions');
  return pending({
    request: { server, questions, ...(problem !== undefined && { problem }) },
    resume: plainJson(state, 'resume'),
    ...(answerTimeoutMs !== undefined && { timeoutMs: answerTimeoutMs }),
  });
}

function toInputResponses(
  { answered, requestState }: ParkedState,
  results: Readonly<Record<string, McpElicitationResult>>,
): McpInputResponses {
  const responses: InputResponses = {};
  for (const [id, { roots }] of Object.entries(answered)) {
    responses[id] = {
      roots: roots.map(({ uri, name }) => ({ uri, ...(name !== undefined && { name }) })),
    };
  }
  for (const [id, { action, content }] of Object.entries(results)) {
    responses[id] = { action, ...(content !== undefined && { content: { ...content } }) };
  }
  return {
    ...(Object.keys(responses).length > 0 && { inputResponses: responses }),
    ...(requestState !== undefined && { requestState }),
  };
}

function selectAnswer(
  { id }: ParkedElicitation,
  response: Json,
  questionCount: number,
): Json | undefined {
  const byId = isJsonObject(response) ? response[id] : undefined;
  // A field of the one question may have its name: then the whole response is the answer.
  return questionCount > 1 || isJsonObject(byId) ? byId : response;
}

function issueText({ path, message }: ArgsIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

/** The content, with the default of each member that it leaves out. */
function withDefaults(content: Json, { properties }: JsonObject): Json {
  if (!isJsonObject(content) || !isJsonObject(properties)) return content;
  const defaults = Object.entries(properties).flatMap(([name, member]) =>
    isJsonObject(member) && member['default'] !== undefined
      ? [[name, member['default']] as const]
      : [],
  );
  return { ...Object.fromEntries(defaults), ...content };
}

/** The answer, or what is wrong with it. No answer at all cancels the question. */
function validateAnswer(
  { schema }: ParkedElicitation,
  own: Json | undefined,
): McpElicitationResult | string {
  if (own === undefined) return { action: 'cancel' };
  const whole = v.safeParse(answerSchema, own);
  if (whole.success && whole.output.action !== 'accept') return { action: whole.output.action };
  if (!isJsonObject(schema)) return { action: 'accept' };
  const content = withDefaults(whole.success ? (whole.output.content ?? {}) : own, schema);
  const issues = createJsonSchemaValidator(schema, 'question')(content);
  if (issues.length > 0) return issues.map((issue) => issueText(issue)).join('; ');
  const plain = v.safeParse(contentSchema, content);
  return plain.success
    ? { action: 'accept', content: plain.output }
    : 'The answer must be an object of texts, numbers, yes or no, and lists of texts.';
}
