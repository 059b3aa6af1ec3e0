// The texts of this file are those of Google's Agent Development Kit. See NOTICE.

import { LongRunningFunctionTool } from './base-tool.ts';

/** Lets the model offer choices to the user. The call waits for the user's choice, also across restarts. */
export const getUserChoiceTool: LongRunningFunctionTool<ChoiceParameters> =
  new LongRunningFunctionTool({
    name: 'get_user_choice',
    description: 'Presents a list of options to the user and awaits their selection.',
    parameters: {
      type: 'object',
      properties: {
        options: {
          type: 'array',
          items: { type: 'string' },
          description: 'List of options to present to the user.',
        },
      },
      required: ['options'],
    },
    readOnly: true,
    execute: (_, { actions }) => {
      actions.skipSummarization();
      return null;
    },
  });

type ChoiceParameters = {
  readonly type: 'object';
  readonly properties: {
    readonly options: {
      readonly type: 'array';
      readonly items: { readonly type: 'string' };
      readonly description: string;
    };
  };
  readonly required: string[];
};
