import type { TextOption } from './options.ts';

export const DEFAULT_STORE = 'sqlite:petrichor.db';
export const DEFAULT_APP = 'petrichor';
export const DEFAULT_USER = 'default';

/** Selects the store. */
export const storeOption: TextOption = {
  type: 'string',
  value: 'URL',
  summary:
    'Where sessions are stored; env:NAME takes the URL from an environment variable. Default: sqlite:petrichor.db',
  fromEnvironment: true,
};

/** Selects an agent of a module. */
export const agentOption: TextOption = {
  type: 'string',
  value: 'NAME',
  summary: 'The agent to use, if the module exports several',
};

/** Selects the user of a session. */
export const userOption: TextOption = {
  type: 'string',
  value: 'U',
  summary: 'The user of the session. Default: default',
};

/** Selects the application of a session. */
export const appOption: TextOption = {
  type: 'string',
  value: 'NAME',
  summary: 'The application of the session. Default: petrichor',
};

/** Select a session in any application of a store. */
export const sessionSelectorOptions: {
  readonly store: TextOption;
  readonly user: TextOption;
  readonly app: TextOption;
} = {
  store: storeOption,
  user: { type: 'string', value: 'U', summary: 'The user of the session. Default: any' },
  app: {
    type: 'string',
    value: 'NAME',
    summary: 'The application of the session. Default: any',
  },
};
