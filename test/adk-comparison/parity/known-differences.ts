import { isJsonObject } from '../../../src/core/index.ts';
import type { Difference } from './compare.ts';

/** A difference between the packages that is known, with its reason. */
export interface KnownDifference {
  readonly subject: string;
  /** What ADK does, and what Petrichor does. */
  readonly stock: string;
  readonly petrichor: string;
  /** `intended`: it stays. `open`: it is to be removed. */
  readonly status: 'intended' | 'open';
  readonly reason: string;
  readonly matches: (difference: Difference) => boolean;
}

/** Every known difference. Each must occur, and each difference must match one. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    subject: 'A tool without arguments',
    stock: 'No schema.',
    petrichor: 'The schema of an object without members.',
    status: 'intended',
    reason: 'Providers other than Gemini require a schema.',
    matches: ({ field, stock }) =>
      field.startsWith('request.tools.') &&
      isJsonObject(stock) &&
      isJsonObject(stock['parameters']) &&
      Object.keys(stock['parameters']).length === 0,
  },
  {
    subject: 'Answer that a callback replaced',
    stock: 'No `finishReason` and no `usageMetadata`.',
    petrichor: '`STOP`, and the usage of the answer that was replaced.',
    status: 'intended',
    reason: 'The tokens were used. The sum of all events is the usage of the session.',
    matches: ({ field, stock }) =>
      stock === undefined && ['event.finishReason', 'event.usageMetadata'].includes(field),
  },
  {
    subject: 'State changes of model callbacks',
    stock: 'In the event of the answer.',
    petrichor: 'In an event of their own, before the answer.',
    status: 'intended',
    reason: 'A write is committed, or refused, before the answer is shown.',
    matches: ({ field, petrichor, stock }) =>
      (field === 'event.added' && isStateEvent(petrichor)) ||
      (field === 'event.actions.stateDelta' && stock !== undefined),
  },
  {
    subject: 'Errors of tools',
    stock: '`{ error: "Error in tool …: …" }`',
    petrichor: '`{ error: { code, message } }`, and `isError` for providers that know it.',
    status: 'intended',
    reason: 'A model can distinguish a fault, a denial and an unknown outcome by the code.',
    matches: ({ field, petrichor }) =>
      /content/.test(field) &&
      /"error":\{"code":"(?:tool_failed|denied)"/.test(JSON.stringify(petrichor)),
  },
  {
    subject: 'A call of a tool that does not exist',
    stock: 'The run ends with an error event. The call keeps no result.',
    petrichor: 'The model gets an error that lists the tools, and continues.',
    status: 'intended',
    reason: 'A model that invents a name recovers.',
    matches: ({ program, field }) =>
      program === 'a tool that does not exist' &&
      ['request.contents', 'event.missing', 'event.added'].includes(field),
  },
  {
    subject: 'Invocation of an answered call',
    stock: 'The answer starts another invocation.',
    petrichor: 'The answer continues the invocation that made the call.',
    status: 'intended',
    reason: 'The turn waits in the journal, so that it ends as one.',
    matches: ({ program, field }) =>
      /confirmation|credential|long-running/.test(program) && field === 'event.invocation',
  },
  {
    subject: 'Answer to a call that waits',
    stock: 'The function response of the user, which `runAsync` does not yield.',
    petrichor: 'The result of the call, as an event of the agent.',
    status: 'intended',
    reason: 'Each call has one result in the log, whoever gave it.',
    matches: ({ program, field }) =>
      program === 'a long-running tool without a first result' && field === 'event.added',
  },
  {
    subject: 'Request for a credential',
    stock: 'The request, and then what the tool returned, as a first result.',
    petrichor: 'The request. The call has its result when the tool ran with the credential.',
    status: 'intended',
    reason: 'Each call has one result in the log.',
    matches: ({ program, field }) =>
      program === 'a credential that a tool asks for' &&
      ['event.missing', 'event.actions.requestedAuthConfigs'].includes(field),
  },
  {
    subject: 'A confirmation that a tool asks for while it runs',
    stock:
      'The answer ends the run with `IntentMismatchError`: its own request is not in the session.',
    petrichor: 'The tool runs again with the answer.',
    status: 'intended',
    reason: 'ADK documents that the tool runs again.',
    matches: ({ program }) => program === 'a confirmation that a tool asks for',
  },
  {
    subject: 'Code of an error of a model',
    stock: '`UNKNOWN_ERROR`',
    petrichor: 'The kind of the error, such as `model_overloaded`.',
    status: 'intended',
    reason: 'A program can distinguish a refusal, a timeout and a limit.',
    matches: ({ field }) => field === 'event.errorCode',
  },
  {
    subject: 'Answer by `set_model_response`',
    stock: 'An event with `skipSummarization`.',
    petrichor: 'An answer like any other, which is final by itself.',
    status: 'intended',
    reason: 'The call is not in the event, so nothing needs to be skipped.',
    matches: ({ program, field }) =>
      program === 'an output schema with tools' && field === 'event.actions.skipSummarization',
  },
  {
    subject: 'Position in a workflow',
    stock: '`nodeInfo.path` is `flow.upper`. Agents have `outputFor` and `messageAsOutput`.',
    petrichor:
      '`nodeInfo.path` is `flow/upper@1`, as in ADK for Python, and each node has a `branch`.',
    status: 'intended',
    reason: 'The path distinguishes the runs of a node that runs again.',
    matches: ({ program, field }) =>
      program.startsWith('a workflow') && ['event.nodeInfo', 'event.branch'].includes(field),
  },
  {
    subject: 'Output of a node',
    stock: 'Also the content of the event. The answer of an agent is the output of its event.',
    petrichor: 'The output of the event, and not a message. The answer of an agent is a message.',
    status: 'intended',
    reason: 'A user sees the messages that nodes send, and not the values they pass on.',
    matches: ({ program, field }) =>
      program.startsWith('a workflow') &&
      ['event.missing', 'event.added', 'event.output'].includes(field),
  },
  {
    subject: 'End of a loop by its iterations',
    stock: 'No event.',
    petrichor: 'An event with `turnComplete` and `stopReason: budget_reached`.',
    status: 'intended',
    reason: 'A caller can distinguish a limit from an end.',
    matches: ({ field, petrichor }) =>
      field === 'event.added' && JSON.stringify(petrichor).includes('budget_reached'),
  },
  {
    subject: 'Escalation of a callback without a message',
    stock: 'Has no effect, unless the callback also writes state.',
    petrichor: 'Ends the loop.',
    status: 'intended',
    reason: 'An action has the same effect with and without a message.',
    matches: ({ program, field }) =>
      program === 'an afterAgent that escalates without a message' &&
      ['request', 'event.missing'].includes(field),
  },
  {
    subject: 'Output key of an agent that calls `exit_loop`',
    stock: 'The empty result of `exit_loop` replaces the last answer in the state.',
    petrichor: 'The state keeps the last answer.',
    status: 'intended',
    reason: 'The result of a loop is its last draft.',
    matches: ({ program, field }) =>
      program === 'exit_loop of an agent with an output key' && field === 'state',
  },
  {
    subject: 'Summary of a conversation',
    stock: 'Made before a request. An event of `system`, which `runAsync` yields.',
    petrichor: 'Made between turns. An event with `actions.compaction`, as in ADK for Python.',
    status: 'intended',
    reason: 'No message waits for a summary.',
    matches: ({ program, field, stock }) =>
      program === 'a conversation that is summarized' &&
      // The event has an invocation of its own, which counts in the numbers of later ones.
      (field === 'event.invocation' || Reflect.get(Object(stock), 'isCompacted') === true),
  },
];

/** What ADK for Python does differently from ADK for TypeScript, where prompts are concerned. */
export const PYTHON_DIFFERENCES: readonly (readonly [subject: string, difference: string])[] = [
  ['Argument of `transfer_to_agent`', '`agent_name`. Petrichor understands both names.'],
  ['Sentence about the parent agent', 'It also has the description of the parent.'],
  [
    '`PlanReActPlanner`',
    'ADK for TypeScript has no planners. Ours has the tags of ADK for Python, and an instruction of its own.',
  ],
];

function isStateEvent(event: unknown): boolean {
  const { content, actions }: { content?: unknown; actions?: unknown } = Object(event);
  return content === undefined && Reflect.get(Object(actions), 'stateDelta') !== undefined;
}
