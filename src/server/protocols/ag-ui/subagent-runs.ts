import type { AgentRunChanged, JsonObject, LogEvent, StopReason } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { OpenCall } from '../session-update.ts';

/** The author of an event, and its branch. */
export interface EventAuthor {
  readonly author: string;
  readonly branch?: string | undefined;
}

interface OpenRun {
  /** The id of the run of an agent, from its log entry: the same at each reading. Absent for a node that is no agent. */
  readonly id: string | undefined;
  readonly event: RunEvent;
  readonly parentId: string | undefined;
  /** Its name as a step of the workflow that has it. Absent for an agent outside of a workflow. */
  readonly stepName: string | undefined;
}

type RunEvent = Extract<LogEvent, AgentRunChanged>;

/** Follows which sub-agents, called agents and nodes of workflows run, and maps their changes to events of AG-UI. */
export class SubagentRuns {
  #open: readonly OpenRun[] = [];
  /** The run that made each call. */
  readonly #callOwners = new Map<string, string>();

  /** The id of the run in which an agent speaks. Undefined for the first agent of the session. */
  findId({ author, branch }: EventAuthor): string | undefined {
    return this.#open.findLast(
      ({ id, event }) => id !== undefined && isSpeaker(event, { author, branch }),
    )?.id;
  }

  /** Remembers who made a call. */
  addCall(callId: string, speaker: EventAuthor): void {
    const id = this.findId(speaker);
    if (id !== undefined) this.#callOwners.set(callId, id);
  }

  start(event: RunEvent): readonly JsonObject[] {
    const { parent, nodeInfo, type } = event;
    const isAgent = type === 'agent.started';
    const parentId = this.#open.findLast(
      (one) => one.id !== undefined && one.event.author === parent,
    )?.id;
    const run = {
      event,
      parentId,
      id: isAgent ? `${event.invocationId}.${event.seq}` : undefined,
      stepName: isAgent && nodeInfo === undefined ? undefined : this.#toStepName(event, parentId),
    };
    this.#open = [...this.#open, run];
    return toStarts(run);
  }

  end(event: RunEvent): readonly JsonObject[] {
    const isAgent = event.type === 'agent.ended';
    const run = this.#open.findLast(
      (one) =>
        (one.id !== undefined) === isAgent &&
        isSpeaker(one.event, event) &&
        one.event.callId === event.callId &&
        (isAgent || one.event.nodeInfo?.path === event.nodeInfo?.path),
    );
    if (run === undefined) return [];
    this.#open = this.#open.filter((one) => one !== run);
    return toEnds(run, (id) => [{ type: 'SUBAGENT_FINISHED', subagentRunId: id }]);
  }

  /** Ends what still runs when its turn ends. */
  endTurn(invocationId: string, stopReason: StopReason): readonly JsonObject[] {
    const isFailed = ['error', 'retries_exhausted', 'interrupted'].includes(stopReason);
    const ended = this.#open
      .filter(({ event }) => event.invocationId === invocationId)
      .toReversed();
    this.#open = this.#open.filter((one) => !ended.includes(one));
    const message = `The turn ended: ${stopReason}.`;
    return ended.flatMap((run) =>
      toEnds(run, (subagentRunId) => [
        isFailed
          ? { type: 'SUBAGENT_ERROR', subagentRunId, message, code: stopReason }
          : { type: 'SUBAGENT_FINISHED', subagentRunId },
      ]),
    );
  }

  /** Shows what still runs in a run that continues a turn. */
  resume(): readonly JsonObject[] {
    return this.#open.flatMap(toStarts);
  }

  /** Suspends what runs: the run of the client ends, because these calls wait. */
  suspend(waits: readonly OpenCall[]): readonly JsonObject[] {
    return this.#open.toReversed().flatMap((run) =>
      toEnds(run, (subagentRunId) => {
        const interruptIds = waits
          .filter((wait) => this.#findOwner(wait) === subagentRunId)
          .map(({ callId }) => callId);
        return [
          {
            type: 'SUBAGENT_FINISHED',
            subagentRunId,
            outcome: { type: 'suspended', interruptIds },
          },
        ];
      }),
    );
  }

  #findOwner({ callId, path }: OpenCall): string | undefined {
    const called = path.at(-1);
    return called === undefined
      ? this.#callOwners.get(callId)
      : this.#open.findLast(({ id, event }) => id !== undefined && event.author === called)?.id;
  }

  /** The name of a node; with the number of its run, if an earlier run of the node has not ended. */
  #toStepName({ author, nodeInfo }: RunEvent, parentId: string | undefined): string {
    const isTaken = this.#open.some((one) => one.parentId === parentId && one.stepName === author);
    return isTaken ? (nodeInfo?.path ?? author) : author;
  }
}

function isSpeaker(event: RunEvent, { author, branch }: EventAuthor): boolean {
  return event.author === author && event.branch === branch;
}

function toStarts({ id, event, parentId, stepName }: OpenRun): readonly JsonObject[] {
  const { author: name, callId } = event;
  const step = toStep('STEP_STARTED', stepName, parentId);
  if (id === undefined) return step;
  return [
    ...step,
    {
      type: 'SUBAGENT_STARTED',
      subagentRunId: id,
      name,
      ...omitUndefined({ parentSubagentRunId: parentId, parentToolCallId: callId }),
    },
  ];
}

function toEnds(
  { id, parentId, stepName }: OpenRun,
  toEnd: (id: string) => readonly JsonObject[],
): readonly JsonObject[] {
  return [...(id === undefined ? [] : toEnd(id)), ...toStep('STEP_FINISHED', stepName, parentId)];
}

function toStep(
  type: 'STEP_STARTED' | 'STEP_FINISHED',
  stepName: string | undefined,
  subagentRunId: string | undefined,
): readonly JsonObject[] {
  return stepName === undefined ? [] : [{ type, stepName, ...omitUndefined({ subagentRunId }) }];
}
