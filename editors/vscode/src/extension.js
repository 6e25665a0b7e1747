"use strict";
// Starts `mdh lsp` and connects VS Code to it. All that is known of schedules is in the server.

const { workspace, commands, window } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["mdh", "tensor-comprehensions", "diesel", "c"];
let client;

async function start() {
  const words = workspace.getConfiguration("mdh").get("command", ["mdh", "lsp"]);
  if (!words.length) {
    window.showErrorMessage("mdh: the setting mdh.command is empty");
    return;
  }
  const [command, ...args] = words;
  const selector = LANGUAGES.map((language) => ({ scheme: "file", language }));
  const files = workspace.createFileSystemWatcher("**/*.{mdh,c,h,tc,diesel}");
  client = new LanguageClient(
    "mdh",
    "mdh",
    { command, args },
    { documentSelector: selector, synchronize: { configurationSection: "mdh", fileEvents: files } },
  );
  try {
    await client.start();
  } catch (error) {
    const how = "Install it by `pip install '.[editor]'` in mdh's folder, or set mdh.command.";
    window.showErrorMessage(`mdh: the language server did not start: ${error.message ?? error}. ${how}`);
  }
}

async function stop() {
  const before = client;
  client = undefined;
  if (before !== undefined) {
    await before.stop().catch(() => undefined);
  }
}

async function activate(context) {
  const restart = commands.registerCommand("mdh.restart", async () => {
    await stop();
    await start();
  });
  context.subscriptions.push(restart);
  await start();
}

module.exports = { activate, deactivate: stop };
