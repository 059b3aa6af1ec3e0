/** An option without a value. */
export interface Switch {
  readonly type: 'boolean';
  readonly summary: string;
}

/** An option with a value. `value` is the name of the value in the help. */
export interface TextOption {
  readonly type: 'string';
  readonly value: string;
  readonly summary: string;
  /** The value `env:NAME` is that of an environment variable, so that a password is not on the command line. */
  readonly fromEnvironment?: true;
}

/** An option that may be repeated. */
export interface ListOption extends TextOption {
  readonly multiple: true;
}

export type Option = Switch | TextOption | ListOption;
export type Options = Readonly<Record<string, Option>>;
