import type { A2AError } from '@a2a-js/sdk/errors';
import { toHttpError } from '../../http/http-error.ts';
import type { HttpError } from '../../http/http-error.ts';
import type { A2aSdk } from './a2a-sdk.ts';

/** Turns errors into those of the SDK, which its transports send to clients. */
export class ErrorTranslator {
  readonly #sdk: A2aSdk;
  /** An error of the server itself. Clients see only that one occurred. */
  failure: unknown;

  constructor(sdk: A2aSdk) {
    this.#sdk = sdk;
  }

  /** Runs an action. @throws an error of the SDK for every other error */
  async translate<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      if (error instanceof this.#sdk.errors.A2AError) throw error;
      const httpError = toHttpError(error);
      if (httpError.status >= 500) this.failure = error;
      throw this.#toSdkError(httpError);
    }
  }

  #toSdkError({ status, message, details }: HttpError): A2AError {
    const { errors } = this.#sdk;
    if (status >= 500) return new errors.A2AError({ message });
    switch (details?.['error_code']) {
      case 'task_not_found':
        return new errors.TaskNotFoundError({ message });
      case 'task_not_cancelable':
        return new errors.TaskNotCancelableError({ message });
      case 'unsupported_operation':
        return new errors.UnsupportedOperationError({ message });
      default:
        return status === 409
          ? new errors.UnsupportedOperationError({ message })
          : new errors.RequestMalformedError({ message });
    }
  }
}
