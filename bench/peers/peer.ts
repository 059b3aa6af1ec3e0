/** What a model answers: calls of the tool `read_file`, or a text in pieces. */
export type Answer = { readonly paths: readonly string[] } | { readonly text: readonly string[] };

/** The scripted model: what follows a message of the user, and what follows results of tools. */
export interface Script {
  readonly afterMessage: Answer;
  readonly afterResults: Answer;
}

export interface AgentOptions {
  readonly script: Script;
  /** The work of the tool `read_file`. */
  readonly readFile: (path: string, signal: AbortSignal | undefined) => string | Promise<string>;
  /** SQLite file of the sessions. Without it, sessions are in memory. */
  readonly file?: string | undefined;
  /** The tool waits for an approval. Default: false. */
  readonly needsApproval?: boolean | undefined;
}

export interface AskOptions {
  /** Gets each piece of text. With it, the turn is streamed. */
  readonly onText?: (piece: string) => void;
  readonly signal?: AbortSignal;
}

/** An agent with the tool `read_file`, made with the package that is measured. */
export interface PeerAgent {
  /** Runs a turn of a session, which is created when it is new. Returns the final text. */
  ask(session: string, message: string, options?: AskOptions): Promise<string>;
  /** All messages of a session, in the package's own form, as JSON. */
  stored(session: string): Promise<string>;
  /** Approves the call that waits, and runs the turn to its end. `ready` is awaited between reading the call and approving it. */
  approve?(session: string, ready: () => Promise<void>): Promise<void>;
  /** Continues what a killed process left, as the package documents it. */
  resume?(session: string): Promise<void>;
  close(): Promise<void>;
}

export interface Peer {
  /** The package's name. */
  readonly name: string;
  /** The packages that a program with it needs in memory, with their required peers. */
  readonly packages: readonly string[];
  /** Modules that such a program imports. */
  readonly entries: readonly string[];
  /** What stores its sessions in SQLite, and how. Without it, the program has to store them. */
  readonly durable?: string;
  readonly open: (options: AgentOptions) => Promise<PeerAgent>;
}
