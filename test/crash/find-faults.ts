import { contentText } from '../../src/core/index.ts';
import type { LogEvent, LogEventByType } from '../../src/core/index.ts';
import { countContents } from './agents.ts';
import type { Effect } from './host-messages.ts';
import type { StoredSession } from './read-sessions.ts';

/** The results of a test, read without the runtime. */
export interface Evidence {
  readonly sessions: ReadonlyMap<string, StoredSession>;
  readonly effects: readonly Effect[];
  /** The messages that a host reported as accepted, by session. */
  readonly accepted: ReadonlyMap<string, readonly string[]>;
  /** The calls whose result was committed when a process ended, by the number of the process. */
  readonly committed: ReadonlyMap<number, ReadonlySet<string>>;
}

/**
 * Finds every violation: a gap in a log, a message that is lost, duplicated or out of order, a malformed turn, a call
 * without exactly one result, a result that does not match the effects of the tool, a tool that must not have run.
 */
export function findFaults(evidence: Evidence): readonly string[] {
  const { sessions, effects } = evidence;
  const calls = new Set<string>();
  const faults: string[] = [];
  for (const session of sessions.values()) {
    const report = (fault: string): void => void faults.push(`${session.name}: ${fault}`);
    for (const gap of session.gaps) report(gap);
    if (session.status !== 'idle') report(`is ${session.status}`);
    checkMessages(session, evidence.accepted.get(session.name) ?? [], report);
    for (const turn of splitByTurn(session.events)) {
      checkTurn(turn, report);
      for (const result of listEvents(turn, 'tool.result')) {
        calls.add(result.callId);
        const attempts = listEvents(turn, 'tool.attempt').filter(
          ({ callId }) => callId === result.callId,
        ).length;
        checkEffects(
          { ...result, attempts },
          effects.filter(({ callId }) => callId === result.callId),
          evidence,
          report,
        );
      }
    }
    checkState(session.events, report);
    checkPromptCounts(session.events, report);
  }
  for (const { callId, tool } of effects)
    if (!calls.has(callId)) faults.push(`${tool} ran for ${callId}, which is no call of any log`);
  return faults;
}

type Report = (fault: string) => void;

/** Checks that a session has the messages `<session>-m1`, `-m2`, … in order, once each, and all accepted ones. */
function checkMessages(
  { name, events }: StoredSession,
  accepted: readonly string[],
  report: Report,
): void {
  const messages = listEvents(events, 'user.message').map(({ messageId }) => messageId);
  for (const [index, messageId] of messages.entries())
    if (messageId !== `${name}-m${index + 1}`) report(`message ${index + 1} is ${messageId}`);
  for (const messageId of accepted)
    if (!messages.includes(messageId)) report(`message ${messageId} was accepted and is lost`);
}

function splitByTurn(events: readonly LogEvent[]): readonly (readonly LogEvent[])[] {
  const turns: LogEvent[][] = [];
  for (const event of events) {
    if (event.type === 'user.message') turns.push([]);
    turns.at(-1)?.push(event);
  }
  return turns;
}

/** Checks a turn with two tools, one of which needs approval. Except for attempts, it must not depend on the kills. */
function checkTurn(turn: readonly LogEvent[], report: Report): void {
  const types = turn.map(({ type }) => type);
  const which = listEvents(turn, 'user.message')[0]?.messageId;
  // A model call in which three processes died is not retried: that turn ends with an error and has another form.
  if (gaveUp(turn)) return;
  const is = (isTrue: boolean, description: string): void => {
    if (!isTrue) report(`turn ${which}: ${description} in ${types.join(', ')}`);
  };
  const count = (type: LogEvent['type']): number => types.filter((one) => one === type).length;
  for (const [type, times] of Object.entries(expected))
    is(count(type as LogEvent['type']) === times, `not ${times} ${type}`);
  const noted = listEvents(turn, 'tool.result').filter(isNoted).length;
  is(count('state.changed') === noted, `not ${noted} state.changed`);
  is(count('turn.waiting') === count('turn.resumed'), 'a wait that never ended');
  const known = new Set([...Object.keys(expected), ...maybe]);
  for (const type of types) is(known.has(type), `a ${type}`);
  is(types[1] === 'turn.started' && types.at(-1) === 'turn.ended', 'no turn');
  const [end] = listEvents(turn, 'turn.ended');
  is(end?.stopReason === 'end_turn', `an end by ${end?.stopReason}`);
  is(types.indexOf('agent.message') < types.indexOf('tool.call'), 'a call before its message');
  is(
    types.lastIndexOf('tool.result') < types.lastIndexOf('agent.message'),
    'an answer before its results',
  );
  for (const { callId, needs, name } of listEvents(turn, 'tool.call')) {
    const at = (type: 'tool.call' | 'tool.answered' | 'tool.result'): readonly number[] =>
      turn.flatMap((event, index) =>
        event.type === type && event.callId === callId ? [index] : [],
      );
    const [called, answered, ended] = [at('tool.call'), at('tool.answered'), at('tool.result')];
    is(ended.length === 1, `${ended.length} results of ${name}`);
    is(answered.length === (needs === 'approval' ? 1 : 0), `${answered.length} answers to ${name}`);
    is((called[0] ?? 0) < (answered[0] ?? Infinity), `an answer to ${name} before its call`);
    is((answered[0] ?? called[0] ?? 0) < (ended[0] ?? 0), `a result of ${name} before its answer`);
  }
}

const expected: Readonly<Partial<Record<LogEvent['type'], number>>> = {
  'user.message': 1,
  'turn.started': 1,
  'agent.message': 2,
  'tool.call': 2,
  'tool.answered': 1,
  'tool.result': 2,
  'turn.ended': 1,
};
const maybe: readonly LogEvent['type'][] = [
  'turn.waiting',
  'turn.resumed',
  'tool.attempt',
  'model.attempt',
  'state.changed',
];

const isNoted = ({ name, outcome }: LogEventByType<'tool.result'>): boolean =>
  name === 'note' && outcome === 'ok';

/** True when the model was given up: three deaths are two more attempts. */
function gaveUp(turn: readonly LogEvent[]): boolean {
  return listEvents(turn, 'model.attempt').length >= 2 && listEvents(turn, 'error').length > 0;
}

function checkEffects(
  {
    name,
    callId,
    outcome,
    attempts,
  }: LogEventByType<'tool.result'> & { readonly attempts: number },
  effects: readonly Effect[],
  { committed }: Evidence,
  report: Report,
): void {
  const began = effects.filter(({ what }) => what === 'began');
  const did = effects.filter(({ what }) => what === 'did');
  const is = (isTrue: boolean, description: string): void => {
    if (!isTrue) report(`${name} ${callId}: ${description}, ${JSON.stringify(effects)}`);
  };
  if (outcome === 'ok') is(did.length >= 1, 'ended well and did nothing');
  is(new Set(began.map(({ run }) => run)).size === began.length, 'began twice in one process');
  if (name === 'pay') {
    is(began.length <= 1, 'began twice');
    is(outcome === 'ok' || outcome === 'unknown', `ended ${outcome}`);
  } else {
    // A call in which three processes died is not retried.
    is(outcome === 'ok' || (outcome === 'unknown' && attempts === 2), `ended ${outcome}`);
    for (const { run } of began)
      is(
        committed.get(run - 1)?.has(callId) !== true,
        `began in process ${run} after its end was committed`,
      );
  }
}

/** Checks that each note increased the counter in state together with its result. */
function checkState(events: readonly LogEvent[], report: Report): void {
  const notes = listEvents(events, 'tool.result').filter(isNoted).length;
  const counted = listEvents(events, 'state.changed').map(({ delta }) => delta['notes']);
  const wanted = Array.from({ length: notes }, (_, index) => index + 1);
  if (JSON.stringify(counted) !== JSON.stringify(wanted))
    report(`state counted ${counted.join()} for ${notes} notes`);
}

/** Checks that each model request had all contents that the log has at that point. */
function checkPromptCounts(events: readonly LogEvent[], report: Report): void {
  const roles: ('user' | 'model' | 'tool')[] = [];
  let open = 0;
  for (const event of events) {
    if (event.type === 'user.message') roles.push('user');
    if (event.type === 'tool.call') open++;
    // The results of one message are one content.
    if (event.type === 'tool.result' && --open === 0) roles.push('tool');
    if (event.type !== 'agent.message') continue;
    const text = contentText(event.content);
    if (text !== '' && text !== `Saw ${countContents(roles)}`)
      report(`event ${event.seq}: "${text}", but the log has ${countContents(roles)}`);
    roles.push('model');
  }
}

function listEvents<T extends LogEvent['type']>(
  events: readonly LogEvent[],
  type: T,
): readonly LogEventByType<T>[] {
  return events.filter((event): event is LogEventByType<T> => event.type === type);
}
