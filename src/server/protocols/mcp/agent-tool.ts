import * as v from 'valibot';
import { isJsonObject } from '../../../core/index.ts';
import type { Json, JsonObject } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { parseJsonWithSchema } from '../../../core/validation/parse-with-schema.ts';
import type { ManagedAgent } from '../../../managed/index.ts';
import { nonEmptyText } from '../../wire/wire-schemas.ts';
import type { ClientInput } from '../send-inputs.ts';

/** The key in `_meta` of a call with which a client offers tools of its own to the agent. */
export const CLIENT_TOOLS_META = 'petrichor/client-tools';

/** The arguments of an agent's tool. */
export interface AgentArguments {
  readonly message?: string | undefined;
  readonly session_id?: string | undefined;
  readonly message_id?: string | undefined;
  readonly answers?: readonly CallAnswer[] | undefined;
  readonly interrupt?: boolean | undefined;
}

interface CallAnswer {
  readonly call_id: string;
  readonly approved?: boolean | undefined;
  readonly message?: string | undefined;
  readonly result?: unknown;
  readonly is_error?: boolean | undefined;
}

/** The JSON schema of the arguments. */
export const ARGUMENTS_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    message: {
      type: 'string',
      description: 'What to tell the agent. Required, except with answers or interrupt.',
    },
    session_id: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'The conversation to continue, or an id of your choice for a new one.',
    },
    message_id: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'A message with the id of an earlier one is not sent again.',
    },
    interrupt: {
      type: 'boolean',
      description: 'True: stops the turn that runs or waits. Needs session_id only.',
    },
    answers: {
      type: 'array',
      description: 'Answers to the calls that wait.',
      items: {
        type: 'object',
        properties: {
          call_id: { type: 'string', minLength: 1, maxLength: 512 },
          approved: { type: 'boolean', description: 'For a call that needs an approval.' },
          message: { type: 'string', description: 'Why it is denied.' },
          result: { description: 'For a call that needs a result.' },
          is_error: { type: 'boolean', description: 'True: the result is an error.' },
        },
        required: ['call_id'],
      },
    },
  },
};

const callSchema: JsonObject = {
  type: 'object',
  properties: {
    call_id: { type: 'string' },
    name: { type: 'string' },
    arguments: { type: 'object' },
    needs: { type: 'string', enum: ['approval', 'result'] },
  },
  required: ['call_id', 'name', 'needs'],
};

/** The JSON schema of the structured result. */
export const RESULT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    session_id: { type: 'string', description: 'Pass it to continue the conversation.' },
    status: { type: 'string', enum: ['completed', 'waiting', 'interrupted', 'failed', 'closed'] },
    text: { type: 'string', description: 'The answer of the agent.' },
    tool_results: {
      type: 'array',
      description: 'The results of the tools that the agent called.',
      items: {
        type: 'object',
        properties: {
          call_id: { type: 'string' },
          name: { type: 'string' },
          outcome: { type: 'string' },
          response: {},
        },
        required: ['call_id', 'name', 'outcome'],
      },
    },
    waits: {
      type: 'array',
      description: 'Calls that wait. Answer them with session_id and answers.',
      items: callSchema,
    },
    error: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' } },
      required: ['code', 'message'],
    },
  },
  required: ['session_id', 'status', 'text'],
};

/** The name of an agent's tool: the name of an agent from code, the id of a stored one. */
export function toToolName(agent: ManagedAgent): string {
  const name = agent.source === 'code' ? agent.description.name : agent.id;
  return /^[\w.-]{1,128}$/.test(name) ? name : agent.id;
}

/** What a model is told about an agent. */
export function toToolDescription(agent: ManagedAgent): string {
  const { name, description = '' } = agent.source === 'code' ? agent.description : agent.definition;
  const text = description === '' ? `Talks to the agent ${name}.` : description;
  return `${text}\nReturns its answer and a session_id, with which the conversation continues.`;
}

/** The answers of a call's arguments. */
export function toAnswerInput(answer: CallAnswer): ClientInput | undefined {
  const { call_id: callId, approved, message, result, is_error: isError } = answer;
  if (approved === true) return { type: 'approve', callId };
  if (approved === false) return { type: 'deny', callId, ...omitUndefined({ message }) };
  if (result === undefined) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a member of a JSON-RPC request
  const response = result as Json;
  return { type: 'result', callId, response, ...omitUndefined({ isError }) };
}

const clientTools = v.array(
  v.looseObject({
    name: nonEmptyText(64),
    description: v.optional(v.string()),
    parameters: v.optional(v.custom<JsonObject>(isJsonObject, 'must be an object')),
  }),
);

/** @throws InvalidInputError for tools that are not a list of tools */
export function parseClientTools(
  meta: Readonly<Record<string, unknown>> | undefined,
): Extract<ClientInput, { readonly type: 'message' }>['clientTools'] {
  const value = meta?.[CLIENT_TOOLS_META];
  if (value === undefined) return undefined;
  return parseJsonWithSchema(clientTools, value, `_meta.${CLIENT_TOOLS_META}`).map(
    ({ name, description, parameters }) => ({
      name,
      ...omitUndefined({ description, parameters }),
    }),
  );
}
