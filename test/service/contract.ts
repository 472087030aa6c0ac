import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler } from 'express';
import { middleware } from 'express-openapi-validator';
import { afterAll, beforeAll } from 'vitest';
import { openApiDocument } from '../../src/service/index.ts';
import type { Answer } from './support.ts';

type Document = ReturnType<typeof openApiDocument>;
type Checked = Pick<Answer, 'status' | 'headers' | 'text'>;

export interface Contract {
  /** Resolves with what the validator has against this answer of an operation, '' for nothing. */
  breach(method: string, path: string, answer: Checked): Promise<string>;
}

/** Headers of HTTP itself, which a description of an API leaves out. */
const OF_HTTP = ['date', 'connection', 'keep-alive', 'content-type', 'content-length', 'transfer-encoding', 'allow'];

/**
 * Checks answers against the OpenAPI document with express-openapi-validator, for the tests of this file. It validates bodies
 * only, so an answer is played back to it as one body, `{headers, body}`, against a document that is rewritten likewise.
 */
export function useContract(): Contract {
  const pending = new Map<string, Checked>();
  const server = createServer(validating(pending));
  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void server.close());
  return {
    async breach(method, path, answer) {
      const id = `${pending.size}`;
      pending.set(id, answer);
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const response = await fetch(`${origin}${path}`, { method, headers: { 'X-Answer': id } });
      const verdict = await response.text();
      return response.headers.has('x-breach') ? verdict : '';
    },
  };
}

function validating(pending: ReadonlyMap<string, Checked>) {
  const app = express();
  const document = withHeadersInBody(openApiDocument('http://127.0.0.1/v1'));
  const apiSpec = document as unknown as Exclude<Parameters<typeof middleware>[0]['apiSpec'], string>;
  app.use(middleware({ apiSpec, validateRequests: false, validateSecurity: false, validateResponses: true }));
  app.use((request, response) => {
    const answer = pending.get(request.get('X-Answer') ?? '');
    if (answer === undefined) throw new Error('there is no such answer');
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, coerced(value)]);
    response.status(answer.status).json({ headers: Object.fromEntries(headers), body: JSON.parse(answer.text) });
  });
  const tell: ErrorRequestHandler = (error: Error, _request, response, _next) => {
    response.status(500).set('X-Breach', 'yes').type('text').send(error.message);
  };
  return app.use(tell);
}

/** As a parser of headers would read them: those that are digits are integers. */
function coerced(value: string | string[] | undefined) {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
}

type Response = { headers: Record<string, { $ref: string }>; content: Record<string, { schema: object }> };
type Operation = { responses: Record<string, Response> };

function withHeadersInBody(document: Document): Document {
  const copy = structuredClone(document) as Document;
  const known = copy.components.headers as Record<string, { required?: boolean; schema: object }>;
  const allowed = [...Object.keys(known).map((name) => name.toLowerCase()), ...OF_HTTP];
  for (const path of Object.values(copy.paths as Record<string, Record<string, Operation>>)) {
    for (const response of Object.values(path).flatMap(({ responses }) => Object.values(responses))) {
      const declared = Object.entries(response.headers).map(
        ([name, { $ref }]) => [name.toLowerCase(), known[$ref.replace('#/components/headers/', '')]] as const,
      );
      const headers = {
        type: 'object',
        properties: Object.fromEntries(declared.map(([name, header]) => [name, header?.schema])),
        required: declared.filter(([, header]) => header?.required).map(([name]) => name),
        propertyNames: { enum: allowed },
      };
      for (const media of Object.values(response.content)) {
        media.schema = { type: 'object', required: ['headers', 'body'], properties: { headers, body: media.schema } };
      }
    }
  }
  return copy;
}
