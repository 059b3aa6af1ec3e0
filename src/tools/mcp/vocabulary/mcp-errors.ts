import {
  OutcomeUnknownError,
  PetrichorError,
  type PetrichorErrorOptions,
} from '../../../core/index.ts';
import { ToolFailedError } from '../../tool/tool-failed-error.ts';

/**
 * The package `@modelcontextprotocol/client` is not installed. Only MCP needs it.
 * @remedy Run `npm install @modelcontextprotocol/client`.
 */
export class McpPackageMissingError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName = '@modelcontextprotocol/client';

  constructor(options?: PetrichorErrorOptions) {
    super(
      'MCP needs the package @modelcontextprotocol/client: run "npm install @modelcontextprotocol/client".',
      options,
    );
  }
}

/**
 * A server cannot be reached, or does not implement MCP. The next call tries again.
 * @remedy Check that the server runs, and check its URL or command.
 */
export class McpConnectError extends PetrichorError {
  override readonly code = 'mcp_unreachable' as const;
  readonly server: string;

  constructor(server: string, reason: string, options?: PetrichorErrorOptions) {
    super(`MCP server "${server}" cannot be reached: ${reason}`, options);
    this.server = server;
  }
}

/**
 * The connection was lost during a request, which the server may have processed. A call ends with the outcome
 * `unknown`.
 * @remedy Check whether the effect happened before you repeat the call.
 */
export class McpConnectionLostError extends OutcomeUnknownError {
  override readonly code = 'mcp_connection_lost' as const;
  readonly server: string;

  constructor(server: string, options?: PetrichorErrorOptions) {
    super(
      `MCP server "${server}" disconnected before it answered. The request may have been processed: check before repeating it.`,
      options,
    );
    this.server = server;
  }
}

/**
 * A server rejected a request, did not answer in time, or sent a response that violates the protocol.
 * @remedy Read the message: it has the reason of the server. Correct the request or the server.
 */
export class McpRequestError extends PetrichorError {
  override readonly code = 'mcp_request_failed' as const;
  readonly server: string;

  constructor(server: string, reason: string, options?: PetrichorErrorOptions) {
    super(`MCP server "${server}": ${reason}`, options);
    this.server = server;
  }
}

/**
 * A server's tool ran and reported an error. The message is the tool's; `details` holds its images and structured
 * content.
 * @remedy Correct the arguments, or what the message of the tool names.
 */
export class McpToolError extends ToolFailedError {}

/**
 * A server sent a message larger than `maxMessageBytes`.
 * @remedy Request less data, or raise `maxMessageBytes`.
 */
export class McpMessageTooLargeError extends PetrichorError {
  override readonly code = 'mcp_message_too_large' as const;
  readonly server: string;

  constructor(server: string, maxBytes: number) {
    super(
      `MCP server "${server}" sent more than ${maxBytes} bytes in one message. Request less data, or raise maxMessageBytes.`,
    );
    this.server = server;
  }
}

/**
 * A server requires authorization, and there was none or it failed.
 * @remedy Sign in again, or correct the credentials of the server.
 */
export class McpUnauthorizedError extends PetrichorError {
  override readonly code = 'mcp_unauthorized' as const;
  readonly server: string;

  constructor(server: string, reason: string, options?: PetrichorErrorOptions) {
    super(`MCP server "${server}" rejected the credentials: ${reason}`, options);
    this.server = server;
  }
}

/**
 * A toolset was used after `close`.
 * @remedy Open a new toolset, or close it later.
 */
export class McpClosedError extends PetrichorError {
  override readonly code = 'mcp_closed' as const;
  readonly server: string;

  constructor(server: string) {
    super(`The toolset of MCP server "${server}" is closed. Open a new one.`);
    this.server = server;
  }
}
