import { omitUndefined } from '../../../core/internal.ts';
import type {
  InputRequests,
  InputRequiredResult,
  InputResponses,
} from '@modelcontextprotocol/client';
import * as v from 'valibot';
import { isJsonObject, type Json } from '../../../core/index.ts';
import { pending, type Pending, type ToolAnswer } from '../../tool/pending.ts';
import { prepareSchema } from '../../schema/prepared-schema.ts';
import { McpRequestError } from '../vocabulary/mcp-errors.ts';
import type { McpElicitation, McpElicitationResult } from '../vocabulary/mcp-options.ts';
import { plainJson } from '../vocabulary/plain-json.ts';
import { validateAnswer } from './validate-elicitation-answer.ts';

/** Members of the repeated call: the answers, and the server's opaque state. */
export interface McpInputResponses {
  readonly inputResponses?: InputResponses;
  readonly requestState?: string;
}

/** The settings that elicitation depends on. */
export interface ElicitationSettings {
  readonly server: string;
  readonly answerTimeoutMs?: number | undefined;
  readonly roots?: readonly { readonly uri: string; readonly name?: string }[] | undefined;
}

const rootsSchema = v.object({
  roots: v.array(v.object({ uri: v.string(), name: v.optional(v.string()) })),
});

/** The state of a parked call: enough for another process to continue it. */
const parkedStateSchema = v.object({
  questions: v.array(
    v.object({
      id: v.string(),
      message: v.string(),
      schema: v.optional(v.unknown()),
      url: v.optional(v.string()),
    }),
  ),
  /** Requests that the settings answered. */
  answered: v.record(v.string(), rootsSchema),
  requestState: v.optional(v.string()),
});

type ParkedState = v.InferOutput<typeof parkedStateSchema>;
type ParkedElicitation = ParkedState['questions'][number];

/**
 * Handles the result of a server that needs input. Questions for a person park the call; requests
 * that the settings can answer are answered at once.
 * @throws McpRequestError if the server requests something that was not offered
 */
export function resolveInputRequired(
  { inputRequests = {}, requestState }: InputRequiredResult,
  settings: ElicitationSettings,
): Pending | McpInputResponses {
  const state: ParkedState = {
    ...classifyRequests(inputRequests, settings),
    ...omitUndefined({ requestState }),
  };
  return state.questions.length > 0 ? parkCall(state, settings) : toInputResponses(state, {});
}

/**
 * Handles the answer to a parked call. With one question, the response is its answer; with several,
 * it is an object by their ids. An answer is the requested content, or `{ action, content }`. An
 * answer that does not match the schema of its question parks the call again, with the problem.
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
    const answer = isError ? undefined : selectAnswer(question, response, questions.length);
    const result = validateAnswer(question.schema, answer);
    if (typeof result === 'string') problems.push(`${question.id}: ${result}`);
    else results[question.id] = result;
  }
  return problems.length > 0
    ? parkCall(state, settings, problems.join(' '))
    : toInputResponses(state, results);
}

/** Converts the question of a server to the form that is independent of the protocol version. */
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
      throw new McpRequestError(
        server,
        `it requests ${request.method}, which this client does not offer.`,
      );
    }
  }
  return { questions, answered: answers };
}

/** Rejects a question with an unusable schema before it reaches a person. */
function assertValidSchema(server: string, id: string, { schema }: McpElicitation): void {
  if (!isJsonObject(schema)) return;
  try {
    prepareSchema(schema);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new McpRequestError(
      server,
      `the schema of its question "${id}" cannot be used: ${reason}`,
      { cause },
    );
  }
}

function parkCall(state: ParkedState, settings: ElicitationSettings, problem?: string): Pending {
  const { server, answerTimeoutMs } = settings;
  const questions = plainJson(state.questions, 'questions');
  return pending({
    request: { server, questions, ...omitUndefined({ problem }) },
    resume: plainJson(state, 'resume'),
    ...omitUndefined({ timeoutMs: answerTimeoutMs }),
  });
}

function toInputResponses(
  { answered, requestState }: ParkedState,
  results: Readonly<Record<string, McpElicitationResult>>,
): McpInputResponses {
  const responses: InputResponses = {};
  for (const [id, { roots }] of Object.entries(answered)) {
    responses[id] = {
      roots: roots.map(({ uri, name }) => ({ uri, ...omitUndefined({ name }) })),
    };
  }
  for (const [id, { action, content }] of Object.entries(results)) {
    responses[id] = {
      action,
      ...omitUndefined({ content: content === undefined ? undefined : { ...content } }),
    };
  }
  return omitUndefined({
    inputResponses: Object.keys(responses).length > 0 ? responses : undefined,
    requestState,
  });
}

function selectAnswer(
  { id }: ParkedElicitation,
  response: Json,
  questionCount: number,
): Json | undefined {
  const byId = isJsonObject(response) ? response[id] : undefined;
  // A field of the single question may have the question's id as its name. Then the whole response
  // is the answer.
  return questionCount > 1 || isJsonObject(byId) ? byId : response;
}
