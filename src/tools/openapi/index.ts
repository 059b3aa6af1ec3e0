export { OpenApiDocument } from './openapi-document.ts';
export { createRestCaller, type CallOperation, type RestCallerOptions } from './rest-caller.ts';
export { operationName, toRestOperation, type RestOperation } from './rest-operation.ts';
