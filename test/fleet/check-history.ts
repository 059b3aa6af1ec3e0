import type { Answer, FinalLogs, History, LoggedEvent, Send, View } from './history.ts';

/** What a history shows that no correct fleet does. */
export interface Violation {
  readonly rule:
    | 'lost message'
    | 'doubled message'
    | 'message that nobody sent'
    | 'message before an earlier one'
    | 'message seen before it was sent'
    | 'lost answer'
    | 'doubled answer'
    | 'answer that nobody gave'
    | 'two decisions'
    | 'refusal without another decision'
    | 'gap'
    | 'event that is not in the log'
    | 'event twice or late';
  readonly session: string;
  readonly detail: string;
}

/**
 * Checks a history against the final logs. The log of a session is the order in which its operations took effect, so
 * sends are linearizable if each acknowledged one is in it once, those without a response at most once, and none is
 * before one that had ended when it began. An approval is a register that is written once: all accepted answers agree
 * with the log, and a refusal needs another decision that may have come first. Each reader must have received a prefix
 * of the log.
 */
export function checkHistory(
  { operations, views }: History,
  logs: FinalLogs,
): readonly Violation[] {
  const sends = Map.groupBy(
    operations.filter((one) => one.kind === 'send'),
    ({ session }) => session,
  );
  const answers = Map.groupBy(
    operations.filter((one) => one.kind === 'answer'),
    ({ session }) => session,
  );
  const viewsBySession = Map.groupBy(views, ({ session }) => session);
  const sessions = new Set([
    ...logs.keys(),
    ...sends.keys(),
    ...answers.keys(),
    ...viewsBySession.keys(),
  ]);
  return [...sessions].flatMap((session) => {
    const log = logs.get(session) ?? [];
    const sent = sends.get(session) ?? [];
    const seen = viewsBySession.get(session) ?? [];
    return [
      ...checkSends(session, sent, log),
      ...checkAnswers(session, answers.get(session) ?? [], log),
      ...seen.flatMap((view) => checkView(view, log, sent)),
    ];
  });
}

function checkSends(
  session: string,
  sends: readonly Send[],
  log: readonly LoggedEvent[],
): readonly Violation[] {
  const violations: Violation[] = [];
  const report = (rule: Violation['rule'], detail: string): void =>
    void violations.push({ rule, session, detail });
  const byText = new Map(sends.map((send) => [send.text, send]));
  const texts = log.flatMap(({ text }) => text ?? []);
  const counts = Map.groupBy(texts, (text) => text);
  for (const { text, endedAt } of sends)
    if (endedAt !== undefined && !counts.has(text)) report('lost message', text);
  for (const [text, found] of counts) if (found.length > 1) report('doubled message', text);
  /** The latest start of a send that is earlier in the log. */
  let latest: Send | undefined;
  for (const text of texts) {
    const send = byText.get(text);
    if (send === undefined) {
      report('message that nobody sent', text);
      continue;
    }
    if (latest !== undefined && send.endedAt !== undefined && send.endedAt < latest.startedAt)
      report(
        'message before an earlier one',
        `${latest.text} is before ${text}, which had been accepted when it was sent`,
      );
    if (latest === undefined || send.startedAt > latest.startedAt) latest = send;
  }
  return violations;
}

function checkAnswers(
  session: string,
  answers: readonly Answer[],
  log: readonly LoggedEvent[],
): readonly Violation[] {
  const violations: Violation[] = [];
  const report = (rule: Violation['rule'], detail: string): void =>
    void violations.push({ rule, session, detail });
  const logged = Map.groupBy(
    log.flatMap(({ answer }) => answer ?? []),
    ({ callId }) => callId,
  );
  const given = Map.groupBy(answers, ({ callId }) => callId);
  for (const [callId, found] of logged) {
    if (found.length > 1) report('doubled answer', callId);
    for (const { decision } of found) {
      const may = (given.get(callId) ?? []).some(
        (one) => one.decision === decision && one.outcome !== 'refused',
      );
      if (!may) report('answer that nobody gave', `${callId} ${decision}`);
    }
  }
  for (const [callId, ofCall] of given) {
    const accepted = ofCall.filter(({ outcome }) => outcome === 'accepted');
    const decisions = new Set([
      ...accepted.map(({ decision }) => decision),
      ...(logged.get(callId) ?? []).map(({ decision }) => decision),
    ]);
    if (decisions.size > 1) report('two decisions', callId);
    if (accepted.length > 0 && !logged.has(callId)) report('lost answer', callId);
    for (const refused of ofCall.filter(({ outcome }) => outcome === 'refused')) {
      const isPossible = ofCall.some(
        (one) =>
          one.outcome !== 'refused' &&
          one.decision !== refused.decision &&
          one.startedAt <= (refused.endedAt ?? Infinity),
      );
      if (!isPossible) report('refusal without another decision', `${callId} ${refused.decision}`);
    }
  }
  return violations;
}

function checkView(
  { session, reader, events }: View,
  log: readonly LoggedEvent[],
  sends: readonly Send[],
): readonly Violation[] {
  const violations: Violation[] = [];
  const report = (rule: Violation['rule'], detail: string): void =>
    void violations.push({ rule, session, detail: `${reader}: ${detail}` });
  const positions = new Map(log.map(({ id }, position) => [id, position]));
  const byText = new Map(sends.map((send) => [send.text, send]));
  let next = 0;
  for (const { id, receivedAt } of events) {
    const position = positions.get(id);
    if (position === undefined) {
      report('event that is not in the log', id);
      continue;
    }
    if (position > next) report('gap', `${position - next} events before ${id}`);
    if (position < next) report('event twice or late', id);
    next = Math.max(next, position + 1);
    const { text } = log[position] ?? {};
    const send = text === undefined ? undefined : byText.get(text);
    if (send !== undefined && receivedAt < send.startedAt)
      report('message seen before it was sent', send.text);
  }
  return violations;
}
