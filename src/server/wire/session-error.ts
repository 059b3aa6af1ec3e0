import { isQuotaRefusal } from '../../agents/internal.ts';

/** The `retry_status` of a `session.error` event. */
export type RetryStatus = 'retrying' | 'exhausted' | 'terminal';

/** Whether the failed call was retried before it failed for good. */
export function toRetryStatus({ code }: { readonly code: string }): RetryStatus {
  if (isQuotaRefusal(code)) return 'exhausted';
  return /overloaded|rate_limit|timeout|network|unavailable/.test(code) ? 'exhausted' : 'terminal';
}

/** The types of `session.error` events. */
type SessionErrorType =
  /**
   * The provider of the model is overloaded: `model_overloaded`.
   * @remedy Wait, or configure a fallback model.
   */
  | 'model_overloaded_error'
  /**
   * The provider of the model limits the rate of requests: `model_rate_limit`.
   * @remedy Send fewer requests, or raise the quota.
   */
  | 'model_rate_limited_error'
  /**
   * The model call failed for another reason: every other code that begins with `model_`.
   * @remedy Look up the code of the error.
   */
  | 'model_request_failed_error'
  /**
   * An MCP server requires authorization: `mcp_unauthorized`.
   * @remedy Sign in again, or correct the credentials of the server.
   */
  | 'mcp_authentication_failed_error'
  /**
   * A request to an MCP server failed: every other code that begins with `mcp_`.
   * @remedy Look up the code of the error.
   */
  | 'mcp_connection_failed_error'
  /**
   * A quota of the workspace or of the server is used up: `quota_exceeded`. Or the model has no price, and a quota in USD
   * applies: `model_price_missing`.
   * @remedy Wait until the time in the message, or raise the quota. Then resume the session, or send a message.
   */
  | 'billing_error'
  /**
   * Any other code.
   * @remedy Look up the code of the error. The log of the server has the reason.
   */
  | 'unknown_error';

/** The type of a `session.error` event, for the code of its error. */
export function toSessionErrorType(code: string): SessionErrorType {
  if (isQuotaRefusal(code)) return 'billing_error';
  if (code === 'model_overloaded') return 'model_overloaded_error';
  if (code.startsWith('model_rate_limit')) return 'model_rate_limited_error';
  if (code.startsWith('model_')) return 'model_request_failed_error';
  if (code === 'mcp_unauthorized') return 'mcp_authentication_failed_error';
  if (code.startsWith('mcp_')) return 'mcp_connection_failed_error';
  return 'unknown_error';
}
