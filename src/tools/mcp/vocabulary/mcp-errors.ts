import {
  OutcomeUnknownError,
  PetrichorError,
  type PetrichorErrorOptions,
} from '../../../core/index.ts';
import { ToolFailedError } from '../../tool/tool-failed-error.ts';

/** MCP needs a package that is not installed. Nothing else of Petrichor does. */
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

/** A server cannot be reached, or does not speak MCP. The next call tries again. */
export class McpConnectError extends PetrichorError {
  override readonly code = 'mcp_unreachable' as const;
  readonly server: string;

  constructor(server: string, reason: string, options?: PetrichorErrorOptions) {
    super(`MCP server "${server}" cannot be reached: ${reason}`, options);
    this.server = server;
  }
}

/** The connection went away in the middle of a request: the server may have done what was asked. */
export class McpConnectionLostError extends OutcomeUnknownError {
  override readonly code = 'mcp_connection_lost' as const;
  readonly server: string;

  constructor(server: string, options?: PetrichorErrorOptions) {
    super(
      `MCP server "${server}" went away before it answered: this may have happened. Check before doing it again.`,
      options,
    );
    this.server = server;
  }
}

/** A server refused a request, or answered with what the protocol does not allow. */
export class McpRequestError extends PetrichorError {
  override readonly code = 'mcp_request_failed' as const;
  readonly server: string;

  constructor(server: string, reason: string, options?: PetrichorErrorOptions) {
    super(`MCP server "${server}": ${reason}`, options);
    this.server = server;
  }
}

/** A tool of a server ran and says that it failed. The message is the tool's own, and so are images and structured content in `details`. */
export class McpToolError extends ToolFailedError {}

/** A server sent a message that is larger than `maxMessageBytes`. Ask it for less, or raise the limit. */
export class McpMessageTooLargeError extends PetrichorError {
  override readonly code = 'mcp_message_too_large' as const;
  readonly server: string;

  constructor(server: string, maxBytes: number) {
    super(
      `MCP server "${server}" sent more than ${maxBytes} bytes in one message: ask it for less, or raise maxMessageBytes.`,
    );
    this.server = server;
  }
}

/** A server wants somebody to sign in, and nobody did. */
export class McpUnauthorizedError extends PetrichorError {
  override readonly code = 'mcp_unauthorized' as const;
  readonly server: string;

  constructor(server: string, reason: string, options?: PetrichorErrorOptions) {
    super(`MCP server "${server}" refused our credentials: ${reason}`, options);
    this.server = server;
  }
}

/** The toolset was closed: open another one. */
export class McpClosedError extends PetrichorError {
  override readonly code = 'mcp_closed' as const;
  readonly server: string;

  constructor(server: string) {
    super(`The toolset of MCP server "${server}" is closed: open another one.`);
    this.server = server;
  }
}
