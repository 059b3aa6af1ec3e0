import type {
  InputRequests,
  InputRequiredResult,
  InputResponses,
} from '@modelcontextprotocol/client';
import * as v from 'valibot';
import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import { jsonSchemaJudge } from '../json-schema-parser.ts';
import type { ArgsIssue } from '../parsed-args.ts';
import { pending, type Pending, type ToolAnswer } from '../pending.ts';
import { prepareSchema } from '../schema/prepared-schema.ts';
import { McpRequestError } from './mcp-errors.ts';
import type { McpQuestion, McpQuestionAnswer } from './mcp-options.ts';
import { plainJson } from './plain-json.ts';

/** What goes with a call when it is asked again: the answers, and the server's own note to itself, unread. */
export interface McpAnswers {
  readonly inputResponses?: InputResponses;
  readonly requestState?: string;
}

/** What a question depends on. */
export interface QuestionSettings {
  readonly server: string;
  readonly answerTimeoutMs?: number | undefined;
  readonly roots?: readonly { readonly uri: string; readonly name?: string }[] | undefined;
}

const rootsSchema = v.object({
  roots: v.array(v.object({ uri: v.string(), name: v.optional(v.string()) })),
});

/** What the call keeps while it is parked: enough for another process to go on. */
const keptSchema = v.object({
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

type Kept = v.InferOutput<typeof keptSchema>;
type Asked = Kept['questions'][number];

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
export function toQuestion(
  { inputRequests = {}, requestState }: InputRequiredResult,
  settings: QuestionSettings,
): Pending | McpAnswers {
  const kept: Kept = {
    ...sorted(inputRequests, settings),
    ...(requestState !== undefined && { requestState }),
  };
  return kept.questions.length > 0 ? parked(kept, settings) : answersWith(kept, {});
}

/**
 * What somebody outside said to the questions of a parked call. One question takes its answer as it is; several take
 * an object by their ids. An answer is the content that was asked for, or `{ action, content }`. One that does not fit
 * the question's schema parks the call again, and says why.
 */
export function toAnswers(
  { response, isError, resume }: ToolAnswer,
  settings: QuestionSettings,
): Pending | McpAnswers {
  const kept = v.parse(keptSchema, resume);
  const { questions } = kept;
  const said: Record<string, McpQuestionAnswer> = {};
  const problems: string[] = [];
  for (const question of questions) {
    const own = isError ? undefined : ownAnswer(question, response, questions.length);
    const judged = judge(question, own);
    if (typeof judged === 'string') problems.push(`${question.id}: ${judged}`);
    else said[question.id] = judged;
  }
  return problems.length > 0 ? parked(kept, settings, problems.join(' ')) : answersWith(kept, said);
}

/** What a server asks a person, without the words of the wire. */
export function questionOf(
  params:
    | { readonly message: string; readonly requestedSchema: object }
    | { readonly message: string; readonly url: string },
): McpQuestion {
  const { message } = params;
  return 'url' in params
    ? { message, url: params.url }
    : { message, schema: plainJson(params.requestedSchema, 'requestedSchema') };
}

function sorted(
  requests: InputRequests,
  { server, roots }: QuestionSettings,
): Pick<Kept, 'questions' | 'answered'> {
  const questions: Asked[] = [];
  const answered: Kept['answered'] = {};
  for (const [id, request] of Object.entries(requests)) {
    if (request.method === 'elicitation/create') {
      const question = questionOf(request.params);
      assertUsable(server, id, question);
      questions.push({ id, ...question });
    } else if (request.method === 'roots/list' && roots !== undefined) {
      answered[id] = { roots: roots.map((root) => ({ ...root })) };
    } else {
      throw new McpRequestError(server, `it asks for ${request.method}, which is not offered.`);
    }
  }
  return { questions, answered };
}

/** A question whose schema no answer could be judged by is refused before anybody is asked. */
function assertUsable(server: string, id: string, { schema }: McpQuestion): void {
  if (!isJsonObject(schema)) return;
  try {
    prepareSchema(schema);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new McpRequestError(server, `its question "${id}" cannot be asked: ${reason}`, { cause });
  }
}

function parked(kept: Kept, settings: QuestionSettings, problem?: string): Pending {
  const { server, answerTimeoutMs } = settings;
  const questions = plainJson(kept.questions, 'questions');
  return pending({
    request: { server, questions, ...(problem !== undefined && { problem }) },
    resume: plainJson(kept, 'resume'),
    ...(answerTimeoutMs !== undefined && { timeoutMs: answerTimeoutMs }),
  });
}

function answersWith(
  { answered, requestState }: Kept,
  said: Readonly<Record<string, McpQuestionAnswer>>,
): McpAnswers {
  const responses: InputResponses = {};
  for (const [id, { roots }] of Object.entries(answered)) {
    responses[id] = {
      roots: roots.map(({ uri, name }) => ({ uri, ...(name !== undefined && { name }) })),
    };
  }
  for (const [id, { action, content }] of Object.entries(said)) {
    responses[id] = { action, ...(content !== undefined && { content: { ...content } }) };
  }
  return {
    ...(Object.keys(responses).length > 0 && { inputResponses: responses }),
    ...(requestState !== undefined && { requestState }),
  };
}

function ownAnswer({ id }: Asked, response: Json, asked: number): Json | undefined {
  const byId = isJsonObject(response) ? response[id] : undefined;
  // A field of the one question may have its name: then the whole response is the answer.
  return asked > 1 || isJsonObject(byId) ? byId : response;
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
function judge({ schema }: Asked, own: Json | undefined): McpQuestionAnswer | string {
  if (own === undefined) return { action: 'cancel' };
  const whole = v.safeParse(answerSchema, own);
  if (whole.success && whole.output.action !== 'accept') return { action: whole.output.action };
  if (!isJsonObject(schema)) return { action: 'accept' };
  const content = withDefaults(whole.success ? (whole.output.content ?? {}) : own, schema);
  const issues = jsonSchemaJudge(schema, 'question')(content);
  if (issues.length > 0) return issues.map((issue) => issueText(issue)).join('; ');
  const plain = v.safeParse(contentSchema, content);
  return plain.success
    ? { action: 'accept', content: plain.output }
    : 'The answer must be an object of texts, numbers, yes or no, and lists of texts.';
}
