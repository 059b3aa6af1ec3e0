import { HttpError } from '../../http/http-error.ts';

/** The error of a task that does not exist, or that belongs to another agent or workspace. */
export function taskNotFound(id: string): HttpError {
  return new HttpError(404, `There is no task "${id}".`, {
    details: {
      /**
       * An A2A client named a task that does not exist, or that belongs to another agent or workspace.
       * @remedy List the tasks, and use one of their ids.
       */
      error_code: 'task_not_found',
    },
  });
}

/** The error of a task that has ended, or that waits for another one. */
export function taskNotCancelable(id: string, problem: string): HttpError {
  return new HttpError(409, `Task "${id}" cannot be canceled: ${problem}`, {
    details: {
      /**
       * An A2A client cannot cancel a task that has ended, or that has not begun.
       * @remedy Read the task. Cancel the task that runs.
       */
      error_code: 'task_not_cancelable',
    },
  });
}

/** The error of an operation that the state of a task does not allow. */
export function unsupportedOperation(message: string): HttpError {
  return new HttpError(409, message, {
    details: {
      /**
       * The state of an A2A task does not allow the operation.
       * @remedy Read the task. To continue the conversation, send a message with its `contextId` and no `taskId`.
       */
      error_code: 'unsupported_operation',
    },
  });
}
