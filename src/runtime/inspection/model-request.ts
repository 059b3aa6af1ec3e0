import { InvalidInputError } from '../../core/index.ts';
import { previewModelRequest } from '../../agents/internal.ts';
import type { Agent, AgentHost, ModelRequestPreview } from '../../agents/index.ts';
import type { RecordSeq } from '../../net/index.ts';
import { readFiringTokens } from '../../net/internal.ts';
import type { StepNumber } from '../../store/index.ts';
import type { MarkingAfterStep } from './marking-history.ts';

/** The request of a model call, rebuilt from the journal. */
export interface InspectedModelRequest extends ModelRequestPreview {
  /** The record that started the call. */
  readonly firing: RecordSeq;
  readonly transition: string;
  readonly step: StepNumber;
  /** When the call started, epoch milliseconds. */
  readonly at: number;
  /** True if the agent's net has changed since the call. */
  readonly netChanged: boolean;
}

/**
 * Builds the request of a firing with the function that built it for the call, from the values that the firing read.
 * Nothing is called but the agent's own functions for its prompt.
 * @throws InvalidInputError if the record did not start a call of a model
 */
export async function rebuildModelRequest(
  { step, marking }: MarkingAfterStep,
  { compiled }: Agent,
  host: AgentHost,
  toFiringId: (firing: RecordSeq) => string,
): Promise<InspectedModelRequest> {
  const firing = marking.firings.get(marking.seq);
  if (firing === undefined) {
    throw new InvalidInputError(
      'firing',
      `record ${marking.seq} starts no effect: take a record of the kind "started".`,
    );
  }
  const t = compiled.byName.get(firing.t);
  if (t === undefined) {
    throw new InvalidInputError(
      'firing',
      `record ${marking.seq} started "${firing.t}", which the agent does not have now: use the version of the agent that the session ran with.`,
    );
  }
  const shown = await previewModelRequest(t.spec, readFiringTokens(t, firing), {
    signal: new AbortController().signal,
    firingId: toFiringId(firing.id),
    attempt: firing.attempt,
    emit: () => {},
    host,
  });
  if (shown === undefined) {
    throw new InvalidInputError(
      'firing',
      `record ${marking.seq} started "${firing.t}", which calls no model: take a start of a model call, such as "model.call".`,
    );
  }
  return {
    firing: firing.id,
    transition: firing.t,
    step,
    at: firing.startedAt,
    netChanged: marking.net.hash !== compiled.hash,
    ...shown,
  };
}
