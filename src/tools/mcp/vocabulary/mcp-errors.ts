import {
  OutcomeUnknownError,
  PetrichorError,
  type PetrichorErrorOptions,
} from '../../../core/index.ts';
import { ToolFailedError } from '../../tool/tool-failed-error.ts';

/** Thrown when the package `@modelcontextprotocol/client` is not installed. Only MCP needs it. */
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

/** A server cannot be reached, or does not implement MCP. The next call tries again. */
export class McpConnectError extends PetrichorError {
  override readonly code = 'mcp_unreachable' as const;
  readonly server: string;

  constructor(server: string, reason: string, options?: PetrichorErrorOptions) {
    super(`MCP server "${server}" cannot be reached: ${reason}`, options);
    this.server = server;
  }
}

/** The connection was lost during a request, which the server may have processed. */
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

/** A server rejected a request, or sent a response that violates the protocol. */
export class McpRequestError extends PetrichorError {
  override readonly code = 'mcp_request_failed' as const;
  readonly server: string;

  constructor(server: string, reason: string, options?: PetrichorErrorOptions) {
    super(`MCP server "${server}": ${reason}`, options);
    this.server = server;
  }
}

/**
 * A server's tool ran and reported an error. The message is the tool's; `details` holds its images
 * and structured content.
 */
export class McpToolError extends ToolFailedError {}

/** A server sent a message larger than `maxMessageBytes`. Request less data, or raise the limit. */
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

/** A server requires authorization, and it failed or no one gave it. */
export class McpUnauthorizedError extends PetrichorError {
  override readonly code = 'mcp_unauthorized' as const;
  readonly server: string;

  constructor(server: string, reason: string, options?: PetrichorErrorOptions) {
    super(`MCP server "${server}" rejected the credentials: ${reason}`, options);
    this.server = server;
  }
}

/** The toolset was closed. Open a new one. */
export class McpClosedError extends PetrichorError {
  override readonly code = 'mcp_closed' as const;
  readonly server: string;

  constructor(server: string) {
    super(`The toolset of MCP server "${server}" is closed. Open a new one.`);
    this.server = server;
  }
}
