import { PetrichorError } from '../../core/index.ts';

/**
 * The server no longer knows the conversation of a resumption handle. Nothing was opened.
 * @remedy Open a connection without the handle, with the transcript as history.
 */
export class LiveHandleExpiredError extends PetrichorError {
  override readonly code = 'live_handle_expired' as const;
  /** The name of the model. */
  readonly model: string;

  constructor(model: string) {
    super(
      `Model "${model}" does not accept the resumption handle: it has expired, or belongs to another model. ` +
        'Open a connection without it, with the transcript as history.',
    );
    this.model = model;
  }
}

/**
 * The live connection is closed. The command was not sent.
 * @remedy Open another connection, and send the command there if it still matters.
 */
export class LiveConnectionClosedError extends PetrichorError {
  override readonly code = 'live_connection_closed' as const;
  /** The name of the model. */
  readonly model: string;

  constructor(model: string, command: string) {
    super(
      `The connection to model "${model}" is closed; "${command}" was not sent. Open another connection.`,
    );
    this.model = model;
  }
}
