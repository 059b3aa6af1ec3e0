import type { ProtocolName } from '../../src/server/index.ts';

/** A tool of the client. */
export interface DeclaredTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
}

/** A call that the client is asked to answer. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly needs: 'approval' | 'result';
}

/** What a stock client has of one request, when its stream has ended. */
export interface Answer {
  /** The text of the assistant since the last message of the user. */
  readonly text: string;
  /** Number of pieces in which the text of this request came. */
  readonly pieces: number;
  /** The results of calls since the last message of the user, in order. */
  readonly results: readonly string[];
  readonly asked: readonly AskedCall[];
  readonly error: string | undefined;
  readonly isCancelled: boolean;
  /** The sub-agents, called agents and nodes that began and ended, in the order of their starts. Default: none. */
  readonly agents?: readonly string[];
}

/** One conversation of a stock client. */
export interface Conversation {
  /** The id of the session. */
  readonly id: string;
  /** Sends a message. `onPiece` is called for each piece of text. */
  send(
    text: string,
    options?: { readonly tools?: readonly DeclaredTool[]; readonly onPiece?: () => void },
  ): Promise<Answer>;
  approve(call: AskedCall, isApproved: boolean): Promise<Answer>;
  answer(call: AskedCall, result: string): Promise<Answer>;
  /** Stops the running turn. */
  cancel(): Promise<void>;
  /** Closes the connection of the running request, if the client throws outside of its calls when it breaks. */
  disconnect?(): void;
  /** Comes back after the connection was lost, by the client's own means. */
  reconnect(): Promise<Answer>;
}

/** A stock client of a protocol. */
export interface ProtocolDriver {
  readonly name: string;
  readonly protocol: ProtocolName;
  /** Remarks of the table, by scenario: the rule of the protocol that a cell depends on. */
  readonly rules: Readonly<Record<string, string>>;
  /** The scenarios that the protocol cannot express. Each has a rule. */
  readonly cannot?: readonly string[];
  /** Opens a conversation: with `sessionId`, that of the session. */
  open(server: {
    readonly url: string;
    readonly agentId: string;
    readonly sessionId?: string;
  }): Promise<Conversation>;
}
