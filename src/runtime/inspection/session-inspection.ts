import type { Seq } from '../../core/index.ts';
import type { RecordSeq } from '../../net/index.ts';
import type { ForkPoint } from './fork-points.ts';
import type { InspectedMarking } from './inspect-marking.ts';
import type { InspectedRecord, MarkingOptions, RecordsOptions } from './inspected-record.ts';
import type { InspectedModelRequest } from './model-request.ts';
import type { NetDescription, NetOptions } from './net-description.ts';

/** Reads what a session did and why. Nothing runs, and nothing is written. */
export interface SessionInspection {
  /**
   * Reads the journal records after `after`, with the tokens that each took and gave. Records are read in pages, when
   * they are needed.
   * @param after the last record you have. Default: 0.
   * @throws InvalidInputError, UnknownFieldError, SessionNotFoundError
   */
  records(after?: RecordSeq, options?: RecordsOptions): AsyncIterable<InspectedRecord>;

  /**
   * Returns the marking after a record: the tokens in each place, and the effects in flight.
   * @param record from 0, before the first record. Default: the last record.
   * @throws InvalidInputError, UnknownFieldError, SessionNotFoundError
   */
  markingAt(record?: RecordSeq, options?: MarkingOptions): Promise<InspectedMarking>;

  /**
   * Returns the net of the agent as data, with positions for a drawing.
   * @throws InvalidInputError, UnknownFieldError
   * @throws UnknownAgentError if the runtime does not have the agent
   * @throws GraphvizMissingError if the layout is `graphviz`, and the package `@viz-js/viz` is not installed
   */
  net(options?: NetOptions): Promise<NetDescription>;

  /**
   * Returns the request of a model call, rebuilt from the journal by the function that built it for the call. The agent's
   * instruction functions and context policy are called.
   * @param firing the record that started the call
   * @throws InvalidInputError if the record did not start a call of a model
   * @throws UnknownAgentError if the runtime does not have the agent
   * @throws SessionNotFoundError, and any error of a function of the agent
   */
  modelRequest(firing: RecordSeq): Promise<InspectedModelRequest>;

  /**
   * Lists the log positions at which `fork` may cut, in order.
   * @param after the last event that you have. Default: from the start, with position 0.
   * @throws InvalidInputError, SessionNotFoundError
   */
  forkPoints(after?: Seq): AsyncIterable<ForkPoint>;
}
