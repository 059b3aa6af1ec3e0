import type { TextOption } from './command.ts';

export const DEFAULT_STORE = 'sqlite:petrichor.db';
export const DEFAULT_APP = 'petrichor';
export const DEFAULT_USER = 'default';

/** Where to find sessions. */
export const storeOption: TextOption = {
  type: 'string',
  value: 'URL',
  summary: 'Where sessions are kept; sqlite:petrichor.db unless given',
};

/** Which agent of a module. */
export const agentOption: TextOption = {
  type: 'string',
  value: 'NAME',
  summary: 'Which agent, when the module exports several',
};

/** Which user's session. */
export const userOption: TextOption = {
  type: 'string',
  value: 'U',
  summary: 'Whose session it is; "default" unless given',
};

/** Which application's session. */
export const appOption: TextOption = {
  type: 'string',
  value: 'NAME',
  summary: 'The application it belongs to; "petrichor" unless given',
};

/** Which session a command means, in any application of a store. */
export const sessionSelectorOptions: {
  readonly store: TextOption;
  readonly user: TextOption;
  readonly app: TextOption;
} = {
  store: storeOption,
  user: { type: 'string', value: 'U', summary: 'Whose session it is; any user unless given' },
  app: {
    type: 'string',
    value: 'NAME',
    summary: 'The application it belongs to; any unless given',
  },
};
