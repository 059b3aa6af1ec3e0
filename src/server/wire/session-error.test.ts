import assert from 'node:assert/strict';
import { test } from 'node:test';
import { McpUnauthorizedError } from '../../tools/mcp/index.ts';
import { toSessionErrorType } from './session-error.ts';

test('the type of a session.error event follows from the code of the error', () => {
  const codes = [
    'model_overloaded',
    'model_rate_limited',
    'model_timeout',
    'mcp_timeout',
    'output',
    'quota_exceeded',
    'model_price_missing',
  ];
  assert.deepEqual(codes.map(toSessionErrorType), [
    'model_overloaded_error',
    'model_rate_limited_error',
    'model_request_failed_error',
    'mcp_connection_failed_error',
    'unknown_error',
    'billing_error',
    'billing_error',
  ]);
});

test('an MCP server that requires authorization gets its own type', () => {
  const { code } = new McpUnauthorizedError('crm', 'no token');
  assert.equal(toSessionErrorType(code), 'mcp_authentication_failed_error');
});
