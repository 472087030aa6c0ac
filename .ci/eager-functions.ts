import ts from 'typescript';

interface Edit {
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Has V8 compile functions together with the file that they are in: it does so with a function in brackets, `(function () {…})`. Others it
 * reads twice, to find their end and again when they are called; and Node's compile cache never has them, since it keeps what is
 * compiled when a file has been loaded.
 *
 * Brackets are put around the function declarations of a file, which become variables at its beginning, and around the modules that
 * esbuild wraps. Arrow functions are left, since V8 looks at those in brackets only from Node 24 on, and methods, which can't have any.
 *
 * @param code a file as esbuild writes it: CommonJS, of which most functions run
 */
export function eagerFunctions(code: string): string {
  const source = ts.createSourceFile('file.cjs', code, ts.ScriptTarget.ESNext, true, ts.ScriptKind.JS);
  const declared: string[] = [];
  const edits: Edit[] = [];
  for (const statement of source.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name !== undefined) {
      const [at, end] = [statement.getStart(source), statement.end];
      declared.push(inBrackets(code.slice(at, end), statement.name.text));
      edits.push({ at, end, text: '' });
    } else edits.push(...wrappedModules(statement, source));
  }
  const start = endOfDirectives(source);
  edits.push({ at: start, end: start, text: `\n${declared.join('\n')}` });
  return apply(code, edits);
}

/** `function f(a) {…}` without its name, so that `f` stays one variable within it, too. */
function inBrackets(declaration: string, name: string): string {
  return `var ${name} = (${declaration.replace(/^((?:async )?function\*?) *[\w$]+/, '$1 ')});`;
}

/** `__commonJS({ "node_modules/…"(exports, module) {…} })` */
function wrappedModules(node: ts.Node, source: ts.SourceFile): readonly Edit[] {
  if (!ts.isVariableStatement(node)) return [];
  return node.declarationList.declarations.flatMap(({ initializer }) => {
    if (initializer === undefined || !ts.isCallExpression(initializer)) return [];
    const [modules] = initializer.arguments;
    if (initializer.expression.getText(source) !== '__commonJS' || modules === undefined) return [];
    if (!ts.isObjectLiteralExpression(modules)) return [];
    return modules.properties.filter(ts.isMethodDeclaration).flatMap(({ name, end }) => [
      { at: name.end, end: name.end, text: ': (function' },
      { at: end, end, text: ')' },
    ]);
  });
}

function endOfDirectives({ statements, text }: ts.SourceFile): number {
  let end = text.startsWith('#!') ? text.indexOf('\n') : 0;
  for (const statement of statements) {
    if (!ts.isExpressionStatement(statement) || !ts.isStringLiteral(statement.expression)) break;
    end = statement.end;
  }
  return end;
}

function apply(code: string, edits: readonly Edit[]): string {
  let at = 0;
  let text = '';
  for (const edit of [...edits].sort((one, other) => one.at - other.at)) {
    text += code.slice(at, edit.at) + edit.text;
    at = edit.end;
  }
  return text + code.slice(at);
}
