import * as v from 'valibot';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { jsonObject } from './response-parts.ts';

/** The body of every response with an error status. */
export const errorResponse: WireSchema<'Error'> = component(
  'Error',
  'The body of every response with an error status.',
  v.object({
    type: v.literal('error'),
    error: v.object({
      type: v.picklist([
        'invalid_request_error',
        'authentication_error',
        'permission_error',
        'not_found_error',
        'request_too_large',
        'rate_limit_error',
        'api_error',
      ]),
      message: field('What was wrong, and what to do. It names the field.', v.string()),
      details: field(
        'Facts for programs. `error_code` names the problem.',
        v.exactOptional(jsonObject),
      ),
    }),
    request_id: field('Identifies the request in the log of the server.', v.string()),
  }),
);
