-- What a user does in Neovim: opens a schedule, makes a mistake, sees it, takes the fix, looks, completes and
-- formats. Writes what the editor showed as lines `name: value` into the file $MDH_OUT.

local out = {}

local function note(name, value)
  table.insert(out, name .. ": " .. (value or "nothing"):gsub("\n", " | "))
end

local function finish()
  local file = assert(io.open(os.getenv("MDH_OUT"), "w"))
  file:write(table.concat(out, "\n") .. "\n")
  file:close()
  vim.cmd("qa!")
end

local function session()
  vim.cmd("edit " .. os.getenv("MDH_FILE"))
  local buf = vim.api.nvim_get_current_buf()
  local command = { os.getenv("MDH_PYTHON"), "-m", "mdh", "lsp" }
  local config = { name = "mdh", cmd = command, root_dir = os.getenv("MDH_ROOT") }
  local id = vim.lsp.start and vim.lsp.start(config) or vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(buf, id)

  local function shown()
    local codes = {}
    for _, d in ipairs(vim.diagnostic.get(buf)) do
      table.insert(codes, d.code or vim.tbl_get(d, "user_data", "lsp", "code") or d.message)
    end
    return table.concat(codes, " ")
  end

  local function until_shown(wanted)
    vim.wait(60000, function() return shown() == wanted end, 20)
    return shown()
  end

  local function ask(method, params)
    local found = vim.lsp.buf_request_sync(buf, method, params, 30000)
    return found and found[id] and found[id].result
  end

  local function line(row)
    return vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  end

  local function at(row, column)
    return { textDocument = vim.lsp.util.make_text_document_params(buf), position = { line = row, character = column } }
  end

  note("opened", until_shown("P102"))
  local row = 0
  while not line(row):find("BLK.y", 1, true) do row = row + 1 end
  local column = line(row):find("BLK.y", 1, true) - 1
  vim.api.nvim_buf_set_text(buf, row, column, row, column + 3, { "BLOK" })
  note("mistake", until_shown("S107"))

  local range = { start = { line = row, character = column }, ["end"] = { line = row, character = column + 4 } }
  local document = vim.lsp.util.make_text_document_params(buf)
  local found = ask("textDocument/codeAction", { textDocument = document, range = range, context = { diagnostics = {} } })
  note("action", found[1].title)
  vim.lsp.util.apply_workspace_edit(found[1].edit, "utf-16")
  note("fixed", until_shown("P102"))

  note("hover", ask("textDocument/hover", at(row, 3)).contents.value)
  local labels = {}
  for _, item in ipairs(ask("textDocument/completion", at(row, column)).items) do table.insert(labels, item.label) end
  note("completion", table.concat(labels, " "))
  local went = ask("textDocument/definition", at(row, column))
  note("definition", went[1].uri:match("[^/]+$"))

  vim.api.nvim_buf_set_text(buf, row, 0, row, 2, { "1   :" })
  local options = { tabSize = 4, insertSpaces = true }
  local edits = ask("textDocument/formatting", { textDocument = document, options = options })
  vim.lsp.util.apply_text_edits(edits, buf, "utf-16")
  note("formatted", line(row))
end

local ok, message = pcall(session)
note("ended", ok and "well" or message)
finish()
