#!/bin/sh
# Lints the OpenAPI document with Redocly's recommended rules. Not a part of the tests: it fetches the linter.
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npx tsx bin/petstock.ts sandbox openapi >"$folder/openapi.json"
npx -y @redocly/cli@2.77.0 lint "$folder/openapi.json"
